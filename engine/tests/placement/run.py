"""Runs a script of file calls on an image that the real kernel has mounted."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "oracle", "py"))
import common  # noqa: E402


def play(root, script):
    """Steps are lists: what to do, then its arguments."""
    files = {}
    for step in script:
        what, rest = step[0], step[1:]
        if what == "mkdir":
            os.mkdir(os.path.join(root, rest[0].encode()))
        elif what == "open":
            path = os.path.join(root, rest[1].encode())
            files[rest[0]] = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        elif what == "write":
            os.pwrite(files[rest[0]], b"x" * rest[2], rest[1])
        elif what == "fsync":
            os.fsync(files[rest[0]])
        elif what == "falloc":
            os.posix_fallocate(files[rest[0]], rest[1], rest[2])
        elif what == "close":
            os.close(files.pop(rest[0]))
        elif what == "sync":
            os.sync()
        elif what == "unlink":
            os.unlink(os.path.join(root, rest[0].encode()))
    for fd in files.values():
        os.close(fd)


if __name__ == "__main__":
    job = common.job()
    os.makedirs(job["mountpoint"], exist_ok=True)
    with open(job["script"], encoding="utf-8") as file:
        steps = [line.split("\t") for line in file.read().splitlines()]
    numbers = {"open": [0], "write": [0, 1, 2], "fsync": [0], "falloc": [0, 1, 2], "close": [0]}
    for step in steps:
        for at in numbers.get(step[0], []):
            step[at + 1] = int(step[at + 1])
    with common.mounted(job["image"], job["mountpoint"], job["options"]) as target:
        play(target, steps)
    common.answer({})
