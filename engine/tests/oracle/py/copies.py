"""Random calls on a mounted image, which is copied again and again on the way.

As in busy.py the commit interval is long, so that a copy is of one instant. Now and then
what the journal holds is far behind (no fsync for a while), now and then it has just been
committed. Without fsync nothing happens on the device between two calls.
"""
import os
import random
import subprocess

import common

PUNCH, KEEP, ZERO = 2, 1, 16


class Work:
    def __init__(self, root, job):
        self.root, self.bs = root, job["block_size"]
        self.random = random.Random(job["seed"])
        self.chattr = job["per_file_journal"]

    def path(self, kind="f", count=18):
        r = self.random
        where = b"" if r.random() < 0.4 else b"/d%d" % r.randrange(4)
        return self.root + where + b"/%s%d" % (kind.encode(), r.randrange(count))

    def directory(self):
        return self.root + b"/d%d" % self.random.randrange(4)

    def change(self):
        calls = [
            (self.write, 9), (self.sync, 7), (self.unlink, 3), (self.rename, 3),
            (self.link, 2), (self.truncate, 3), (self.punch, 2), (self.fallocate, 2),
            (self.mkdir, 2), (self.symlink, 1), (self.rmdir, 1), (self.rename_dir, 0.5),
            (self.xattr, 0.5), (self.chmod, 1), (self.everything, 0.3),
        ]
        call = self.random.choices([c for c, _ in calls], [w for _, w in calls])[0]
        try:
            call()
        except OSError:
            pass

    def open(self, more=0):
        return os.open(self.path(), os.O_RDWR | os.O_CREAT | more, 0o644)

    def write(self):
        fd = self.open(os.O_APPEND if self.random.random() < 0.4 else 0)
        r = self.random
        if self.chattr and r.random() < 0.2:
            name = os.readlink(b"/proc/self/fd/%d" % fd)
            subprocess.run(["chattr", "+j", name], check=False, stderr=subprocess.DEVNULL)
        at = r.randrange(24) * self.bs + r.choice([0, 0, 7])
        os.pwrite(fd, r.randbytes(1 + r.randrange(5 * self.bs)), at)
        if r.random() < 0.4:
            os.fsync(fd)
        os.close(fd)

    def sync(self):
        fd = os.open(self.path(), os.O_RDWR)
        (os.fsync if self.random.random() < 0.7 else os.fdatasync)(fd)
        os.close(fd)

    def unlink(self):
        os.unlink(self.path())

    def rename(self):
        os.rename(self.path(), self.path())

    def rename_dir(self):
        os.rename(self.directory(), self.root + b"/e%d" % self.random.randrange(3))

    def link(self):
        os.link(self.path(), self.path())

    def truncate(self):
        os.truncate(self.path(), self.random.randrange(30 * self.bs))

    def range(self):
        return self.random.randrange(24) * self.bs, (1 + self.random.randrange(8)) * self.bs

    def allocate(self, mode):
        fd = os.open(self.path(), os.O_RDWR)
        at, count = self.range()
        c = common.ctypes
        common.LIBC.fallocate(fd, mode, c.c_long(at), c.c_long(count))
        if self.random.random() < 0.4:
            os.fsync(fd)
        os.close(fd)

    def punch(self):
        self.allocate(PUNCH | KEEP)

    def fallocate(self):
        self.allocate(self.random.choice([0, KEEP, ZERO]))

    def mkdir(self):
        os.mkdir(self.directory())

    def rmdir(self):
        os.rmdir(self.directory())

    def symlink(self):
        os.symlink(b"x" * self.random.choice([9, 59, 60, 300]), self.path())

    def xattr(self):
        value = self.random.randbytes(self.random.choice([4, 40, 400]))
        os.setxattr(self.path(), "user.v", value)

    def chmod(self):
        os.chmod(self.path(), self.random.choice([0o600, 0o644, 0o755]))

    def everything(self):
        os.sync()


def main():
    job = common.job()
    journal = job.get("journal")
    options = ",".join(filter(None, ["commit=3600", job["options"]]))
    with common.mounted(job["image"], job["mnt"], options, journal=journal) as root:
        work = Work(root, job)
        for number in range(job["copies"]):
            for _ in range(work.random.randrange(1, 2 * job["calls"])):
                work.change()
            pairs = [(job["image"], "image")] + ([(journal, "journal")] if journal else [])
            for source, name in pairs:
                copy = f"{job['folder']}/{name}-{number}"
                subprocess.run(["cp", "--sparse=always", source, copy], check=True)
    common.answer({})


if __name__ == "__main__":
    main()
