"""Copies an image while the kernel has it mounted and work is under way.

The mount's commit interval is long, so that between two calls of the workload
nothing is written: the copy, which takes its time, is of one instant.
"""
import os
import random
import subprocess

import common


class Work:
    def __init__(self, root, block_size):
        self.root, self.bs = root, block_size
        self.random = random.Random(7)

    def path(self, name):
        return self.root + b"/" + name

    def put(self, name, blocks, sync=False):
        fd = os.open(self.path(name), os.O_CREAT | os.O_WRONLY, 0o644)
        os.pwrite(fd, self.random.randbytes(blocks * self.bs), 0)
        if sync:
            os.fsync(fd)
        os.close(fd)

    def round(self, number):
        """One transaction's worth: new, renamed, grown, removed."""
        tag = b"%03d" % number
        os.mkdir(self.path(b"dir-" + tag))
        for index in range(6):
            self.put(b"dir-%s/file-%d" % (tag, index), 1 + index)
        os.symlink(b"x" * 200, self.path(b"dir-%s/slow" % tag))
        os.setxattr(self.path(b"dir-%s/file-0" % tag), "user.v", tag * 60)
        if number >= 2:
            # Freed directory blocks that were logged: these become revokes.
            old = b"dir-%03d" % (number - 2)
            for name in os.listdir(self.path(old)):
                os.unlink(self.path(old + b"/" + name))
            os.rmdir(self.path(old))
        self.put(b"log-" + tag, 3, sync=True)

    def orphans(self):
        """Open and unlinked, and still truncating: on the orphan list."""
        kept = []
        for index in range(3):
            name = self.path(b"orphan-%d" % index)
            fd = os.open(name, os.O_CREAT | os.O_RDWR)
            os.write(fd, self.random.randbytes(5 * self.bs))
            os.fsync(fd)
            os.unlink(name)
            kept.append(fd)
        return kept


def main():
    job = common.job()
    options = ",".join(filter(None, ["commit=3600", job["options"]]))
    with common.mounted(job["image"], job["mnt"], options) as root:
        work = Work(root, job["block_size"])
        for number in range(job["rounds"]):
            work.round(number)
        kept = work.orphans() if job["orphans"] else []
        work.put(b"last", 1, sync=True)
        # Under way, in memory only: no part of this may be in the journal.
        work.put(b"not-yet", 2)
        subprocess.run(["cp", "--sparse=always", job["image"], job["copy"]], check=True)
        for fd in kept:
            os.close(fd)
    common.answer({})


if __name__ == "__main__":
    main()
