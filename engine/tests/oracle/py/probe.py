"""Reads some paths of an image through the kernel: a hash or an error of each."""
import hashlib
import os
import stat

import common


def read(path):
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            content = os.readlink(path)
        elif stat.S_ISDIR(mode):
            content = b"\n".join(sorted(os.listdir(path)))
        else:
            with open(path, "rb") as file:
                content = file.read()
    except OSError as error:
        return {"error": os.strerror(error.errno)}
    return {"sha256": hashlib.sha256(content).hexdigest()}


def main():
    job = common.job()
    try:
        with common.mounted(job["image"], job["mnt"], job["options"], True) as root:
            found = {path: read(root + path.encode("latin-1")) for path in job["paths"]}
    except OSError as error:
        common.answer({"refused": str(error)})
    else:
        common.answer({"paths": found})


if __name__ == "__main__":
    main()
