"""Fills a freshly made filesystem, through the kernel, with one of everything.

Deterministic: the same names, bytes and times every time (where the kernel puts
them is its own affair). What a filesystem cannot hold is noted, not fatal.
"""
import errno
import os
import random
import socket
import stat
import subprocess
import sys

import common
from fill_more import EXTRAS, acl, set_flags

# The last second that 34 bits of time since 1901 can hold: 10 May 2446.
LATEST = 0x37FFFFFFF


class Filler:
    def __init__(self, root, block_size):
        self.root = root
        self.bs = block_size
        self.random = random.Random(20240607)
        self.notes = []

    def path(self, name):
        return self.root + b"/" + name

    def attempt(self, what, call, *args, **kwargs):
        """Runs what not every filesystem can do, noting a refusal."""
        try:
            return call(*args, **kwargs)
        except OSError as error:
            self.notes.append(f"{what}: {errno.errorcode.get(error.errno)}")

    def write(self, name, data, offset=0):
        fd = os.open(self.path(name), os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            while data:
                done = os.pwrite(fd, data, offset)
                data, offset = data[done:], offset + done
        finally:
            os.close(fd)

    def bytes(self, count):
        return self.random.randbytes(count)


def directories(f):
    path = f.path(b"deep")
    for depth in range(24):
        os.mkdir(path)
        path += b"/%d" % depth
    with open(path, "wb") as out:
        out.write(b"at the bottom\n")
    os.mkdir(f.path(b"empty-dir"))
    # Enough subdirectories to be spread over groups.
    os.mkdir(f.path(b"wide"))
    for number in range(40):
        os.mkdir(f.path(b"wide/d%02d" % number))
        f.write(b"wide/d%02d/file" % number, b"%d\n" % number)
    os.mkdir(f.path(b"many"))
    for number in range(3000):
        name = b"many/entry-%04d%s" % (number, b"-padding" * (number % 4))
        os.close(os.open(f.path(name), os.O_CREAT | os.O_WRONLY, 0o600))


def small_files(f):
    os.mkdir(f.path(b"sizes"))
    bs = f.bs
    sizes = [0, 1, 2, 59, 60, 61, 100, 130, 155, 160, 161, 200, 1000]
    sizes += [bs - 1, bs, bs + 1, 3 * bs, 5 * bs + 7, 12 * bs, 13 * bs]
    sizes += [70 * bs + 3] if bs <= 4096 else []
    for size in sizes:
        f.write(b"sizes/%d" % size, f.bytes(size))


def sparse_files(f):
    os.mkdir(f.path(b"sparse"))
    bs = f.bs
    f.write(b"sparse/hole-at-start", f.bytes(2 * bs), 9 * bs)
    f.write(b"sparse/hole-in-middle", f.bytes(2 * bs))
    f.write(b"sparse/hole-in-middle", f.bytes(2 * bs), 30 * bs)
    f.write(b"sparse/hole-at-end", f.bytes(bs + 5))
    os.truncate(f.path(b"sparse/hole-at-end"), 50 * bs + 1)
    f.write(b"sparse/only-hole", b"")
    os.truncate(f.path(b"sparse/only-hole"), 20 * bs)
    # Past what direct, single, double and triple indirect blocks reach.
    per = bs // 4
    reach = [12, 12 + per, 12 + per + per**2]
    if bs > 4096:
        del reach[2]  # past 16 TiB
    for level, first in enumerate(reach):
        for block in (first - 1, first, first + per + 1):
            offset = block * bs + 3
            name = b"sparse/level-%d" % (level + 1)
            f.attempt(f"level {level + 1}", f.write, name, f.bytes(bs), offset)


def fragmented_files(f):
    """Extent trees of depth 2, and files whose blocks alternate."""
    os.mkdir(f.path(b"extents"))
    bs = f.bs
    names = [b"extents/left", b"extents/right"]
    fds = [os.open(f.path(n), os.O_WRONLY | os.O_CREAT, 0o644) for n in names]
    for index in range(24):
        for fd in fds:
            os.pwrite(fd, f.bytes(bs), index * bs)
            os.fdatasync(fd)
    for fd in fds:
        os.close(fd)
    # A leaf holds (block - 16) / 12 extents and the root 4 of anything.
    count = 4 * ((bs - 16) // 12) + 60 if bs <= 4096 else 60
    fd = os.open(f.path(b"extents/checkered"), os.O_WRONLY | os.O_CREAT, 0o644)
    for index in range(count):
        os.pwrite(fd, b"%08d" % index, 2 * index * bs)
    os.close(fd)
    f.attempt("punched", punched, f)
    f.attempt("unwritten", unwritten, f)


def fallocate(fd, mode, offset, length):
    done = common.LIBC.fallocate(fd, mode, common.ctypes.c_long(offset), common.ctypes.c_long(length))
    common.libc_call(done, "fallocate")


def punched(f):
    bs, keep_size_punch = f.bs, 3
    count = 400 if bs <= 4096 else 20
    f.write(b"extents/punched", f.bytes(count * bs))
    fd = os.open(f.path(b"extents/punched"), os.O_RDWR)
    try:
        for index in range(0, count, 2):
            fallocate(fd, keep_size_punch, index * bs, bs)
    finally:
        os.close(fd)


def unwritten(f):
    bs, keep_size = f.bs, 1
    fd = os.open(f.path(b"extents/unwritten"), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fallocate(fd, 0, 0, 100 * bs)
        for block in (0, 7, 8, 9, 50, 99):
            os.pwrite(fd, f.bytes(bs), block * bs)
    finally:
        os.close(fd)
    fd = os.open(f.path(b"extents/beyond-eof"), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        os.pwrite(fd, f.bytes(bs // 2), 0)
        fallocate(fd, keep_size, 0, 40 * bs)
    finally:
        os.close(fd)


def links(f):
    os.mkdir(f.path(b"links"))
    for length in sorted({1, 58, 59, 60, 61, 155, 255, f.bs - 1, 4095}):
        target = (b"../sizes/60/" * 400)[:length]
        if length <= min(f.bs, 4096):
            f.attempt(f"symlink {length}", os.symlink, target, f.path(b"links/to-%d" % length))
    os.symlink(b"no/such/file", f.path(b"links/dangling"))
    os.symlink(b"../sizes/61", f.path(b"links/good"))
    os.symlink(b"\xff<b>\n", f.path(b"links/odd-target"))
    f.write(b"links/one", b"the same inode\n")
    for name in (b"links/two", b"links/three", b"wide/four"):
        os.link(f.path(b"links/one"), f.path(name))


def special_files(f):
    os.mkdir(f.path(b"special"))
    os.mkfifo(f.path(b"special/fifo"), 0o620)
    with socket.socket(socket.AF_UNIX) as sock:
        # sun_path is 108 bytes: bind by a name in the working directory.
        os.chdir(f.path(b"special"))
        sock.bind("socket")
        os.chdir("/")
    numbers = [(1, 3), (8, 1), (255, 255), (256, 0), (0, 256), (300, 70000), (4095, 0xFFFFF)]
    for kind, letter in ((stat.S_IFCHR, "c"), (stat.S_IFBLK, "b")):
        for major, minor in numbers:
            path = f.path(f"special/{letter}-{major}-{minor}".encode())
            os.mknod(path, kind | 0o640, os.makedev(major, minor))


def owners(f):
    os.mkdir(f.path(b"owners"))
    for mode in (0o0, 0o4755, 0o2755, 0o1777, 0o7777, 0o444):
        f.write(b"owners/mode-%04o" % mode, b"m")
        os.chmod(f.path(b"owners/mode-%04o" % mode), mode)
    os.mkdir(f.path(b"owners/sticky"))
    os.chmod(f.path(b"owners/sticky"), 0o3777)
    for uid, gid in ((65535, 65536), (70000, 131073), (0x7FFFFFFF, 0xFFFFFFF0)):
        name = b"owners/%d-%d" % (uid, gid)
        f.write(name, b"o")
        os.chown(f.path(name), uid, gid)


def times(f):
    os.mkdir(f.path(b"times"))
    seconds = [-(2**31), -1, 0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 4354819199, LATEST]
    for index, second in enumerate(seconds):
        name = b"times/%d" % second
        f.write(name, b"t")
        other = seconds[-1 - index]
        stamp = (other * 10**9 + 1 + index, second * 10**9 + 999_999_999 - index)
        f.attempt(f"time {second}", os.utime, f.path(name), ns=stamp)


def attributes(f):
    os.mkdir(f.path(b"xattr"))
    in_inode = {"user.small": b"v", "user.empty": b"", "trusted.t": b"\0\1\2"}
    # One past the other: does not fit the inode, and is shared by two files.
    in_block = {"user.big": f.bytes(min(f.bs // 2, 2000)), "security.s": b"label\0"}
    everything = {**in_inode, **in_block, "user." + "n" * 240: b"long name"}
    sets = {b"inode": in_inode, b"shared-1": in_block, b"shared-2": in_block, b"all": everything}
    for name, values in sets.items():
        f.write(b"xattr/" + name, name)
        for key, value in values.items():
            f.attempt(f"xattr {key[:20]}", os.setxattr, f.path(b"xattr/" + name), key, value)
    os.mkdir(f.path(b"xattr/dir"))
    os.setxattr(f.path(b"xattr/dir"), "user.on-dir", b"d")
    os.symlink(b"x", f.path(b"xattr/link"))
    os.setxattr(f.path(b"xattr/link"), "trusted.on-link", b"l", follow_symlinks=False)
    f.attempt("acl", acl, f.path(b"xattr/inode"), "access", 70000)
    f.attempt("acl", acl, f.path(b"xattr/dir"), "access", 1000)
    f.attempt("acl", acl, f.path(b"xattr/dir"), "default", 1001)


def names(f):
    os.mkdir(f.path(b"names"))
    odd = [b"n" * 255, b"\xc3\xa9" * 127, b"new\nline", b"tab\there", b"\x01\x1b[31m\x7f"]
    odd += [b"<script>alert(1)<script>", b"<img src=x onerror=alert(1)>", b"&amp;\"'", b"\xff\xfe-not-utf8"]
    odd += [b" ", b"...", b"-rf", b"back\\slash", b"*?[a]", "naïve-日本語-🦀".encode(), b"\xe2\x80\xae-rtl"]
    for index, name in enumerate(odd):
        f.write(b"names/" + name, b"%d" % index)
    # Bytes with the high bit set hash otherwise when characters are unsigned.
    os.mkdir(f.path(b"high-bytes"))
    for index in range(300):
        f.write(b"high-bytes/" + bytes([128 + index % 128, 200 + index // 128]) * 20, b"")


def deleted(f):
    os.mkdir(f.path(b"gone"))
    for index in range(60):
        f.write(b"gone/file-%02d" % index, f.bytes(f.bs + 1))
    os.sync()
    for index in range(0, 60, 3):
        os.unlink(f.path(b"gone/file-%02d" % index))
    for index in range(40, 60, 3):
        os.rename(f.path(b"gone/file-%02d" % index), f.path(b"gone/moved-%02d" % index))


def flags(f):
    """Last: what is immutable cannot be touched again."""
    os.mkdir(f.path(b"flags"))
    known = {b"immutable": 0x10, b"append": 0x20, b"nodump": 0x40, b"noatime": 0x80, b"sync": 0x8}
    for name, bit in known.items():
        f.write(b"flags/" + name, b"f")
        f.attempt(f"flag {name.decode()}", set_flags, f.path(b"flags/" + name), bit)
    os.mkdir(f.path(b"flags/topdir"))
    f.attempt("flag topdir", set_flags, f.path(b"flags/topdir"), 0x20000)


STANDARD = [
    directories, small_files, sparse_files, fragmented_files, links, special_files,
    owners, times, attributes, names, deleted,
]


def fill(job, root):
    filler = Filler(root, job["block_size"])
    steps = STANDARD if job["standard"] else []
    for step in [*steps, *(EXTRAS[name] for name in job["extra"])]:
        step(filler)
    if not job.get("stage"):
        flags(filler)
    os.sync()
    return filler.notes


def stage(job):
    """Fills a tmpfs for `mke2fs -d`, where the kernel mounts no such image."""
    target = os.fsencode(os.path.abspath(job["mnt"]))
    common.libc_call(common.LIBC.mount(b"none", target, b"tmpfs", 0, b""), "mount tmpfs")
    try:
        notes = fill(job, target)
        subprocess.run([*job["stage"], "-d", target, job["image"]], check=True, stdout=sys.stderr)
    finally:
        common.unmount(target)
    return notes


def main():
    job = common.job()
    if job.get("stage"):
        notes = stage(job)
    else:
        where = common.mounted(job["image"], job["mnt"], job["options"], journal=job.get("journal"))
        with where as root:
            notes = fill(job, root)
    common.answer({"notes": notes})


if __name__ == "__main__":
    main()
