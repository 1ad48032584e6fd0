"""What the kernel says is in a filesystem, as one JSON object.

Names and values are strings of one character a byte. Directories encrypted with
a key that is gone are listed by the bytes on disk: the kernel's "no-key" names
are base64 of exactly these.
"""
import base64
import ctypes
import errno
import fcntl
import hashlib
import os
import stat
import struct

import common
from fill_more import FS_IOC_GETFLAGS

AT_FDCWD = -100
AT_SYMLINK_NOFOLLOW = 0x100
STATX_BASIC_AND_BTIME = 0xFFF
STATX_BTIME = 0x800
STATX_ATTR_ENCRYPTED = 0x800
FS_IOC_FIEMAP = 0xC020660B
EXTENT_LAST, EXTENT_INLINE, EXTENT_UNWRITTEN = 0x1, 0x200, 0x800
# Longer files are compared by pieces: they are nearly all hole.
WHOLE = 16 << 20
PIECE = 64 << 10


class Walk:
    def __init__(self, root, block_size):
        self.root = root
        self.bs = block_size
        self.names = {}
        self.inodes = {}
        self.extents = {}
        self.notes = []

    def visit(self, path, shown):
        """`path` as one opens it, `shown` as the disk has it."""
        info = statx(path)
        ino = info["ino"]
        self.names[common.text(shown or b"/")] = ino
        if ino not in self.inodes:
            self.inodes[ino] = self.describe(path, info)
        if stat.S_ISDIR(info["mode"]):
            for name in sorted(os.listdir(path)):
                raw = no_key(name) if info["encrypted"] else name
                self.visit(path + b"/" + name, shown + b"/" + raw)

    def describe(self, path, info):
        entry = {key: info[key] for key in KEPT}
        kind = stat.S_IFMT(info["mode"])
        if kind == stat.S_IFLNK:
            target = os.readlink(path)
            entry["target"] = common.text(no_key(target) if info["encrypted"] else target)
        elif kind in (stat.S_IFREG, stat.S_IFDIR):
            self.opened(path, info, entry, kind)
        entry["xattrs"] = xattrs(path)
        return entry

    def opened(self, path, info, entry, kind):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError as error:
            # An encrypted file whose key is gone.
            if error.errno != errno.ENOKEY:
                raise
            return
        try:
            entry["user_flags"] = struct.unpack("<I", fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(4)))[0]
            self.extents[info["ino"]] = fiemap(fd, self.bs) if info["sectors"] else []
            if kind == stat.S_IFREG:
                contents(fd, info["size"], entry)
        finally:
            os.close(fd)


KEPT = ("mode", "uid", "gid", "size", "nlink", "atime", "mtime", "ctime", "crtime", "rdev")


def statx(path):
    buffer = bytearray(256)
    view = (ctypes.c_char * 256).from_buffer(buffer)
    done = common.LIBC.statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_AND_BTIME, view)
    common.libc_call(done, f"statx {path!r}")
    mask, _, attributes, nlink, uid, gid, mode = struct.unpack_from("<IIQIIIH", buffer)
    ino, size, blocks = struct.unpack_from("<QQQ", buffer, 32)

    def stamp(offset):
        return list(struct.unpack_from("<qI", buffer, offset))

    return {
        "ino": ino, "mode": mode, "sectors": blocks, "uid": uid, "gid": gid, "size": size, "nlink": nlink,
        "atime": stamp(64), "crtime": stamp(80) if mask & STATX_BTIME else None,
        "ctime": stamp(96), "mtime": stamp(112),
        "rdev": list(struct.unpack_from("<II", buffer, 128)),
        "encrypted": bool(attributes & STATX_ATTR_ENCRYPTED),
    }


def xattrs(path):
    names = os.listxattr(path, follow_symlinks=False)
    values = ((name, os.getxattr(path, name, follow_symlinks=False)) for name in names)
    return {common.text(os.fsencode(name)): common.text(value) for name, value in values}


def fiemap(fd, block_size):
    """[logical, physical, blocks, unwritten], in blocks."""
    extents, start, room = [], 0, 8
    while True:
        request = bytearray(struct.pack("<QQIIII", start, 2**64 - 1 - start, 0, 0, room, 0))
        request += bytes(56 * room)
        fcntl.ioctl(fd, FS_IOC_FIEMAP, request)
        count = struct.unpack_from("<I", request, 20)[0]
        room = 1000
        for index in range(count):
            logical, physical, length, flags = struct.unpack_from("<QQQ16xI", request, 32 + 56 * index)
            start = logical + length
            if not flags & EXTENT_INLINE:
                unwritten = bool(flags & EXTENT_UNWRITTEN)
                extents.append([logical // block_size, physical // block_size, length // block_size, unwritten])
        if count == 0 or flags & EXTENT_LAST:
            return extents


def contents(fd, size, entry):
    if size <= WHOLE:
        digest = hashlib.sha256()
        while piece := os.read(fd, 1 << 20):
            digest.update(piece)
        entry["sha256"] = digest.hexdigest()
        return
    places = {0, size // 2, size - 4096}
    offset = 0
    while offset < size:
        try:
            data = os.lseek(fd, offset, os.SEEK_DATA)
        except OSError:
            break
        offset = os.lseek(fd, data, os.SEEK_HOLE)
        places.update(range(data, offset, PIECE))
    entry["samples"] = []
    for place in sorted(places):
        piece = os.pread(fd, PIECE, place)
        entry["samples"].append([place, len(piece), hashlib.sha256(piece).hexdigest()])


def no_key(name):
    """The bytes on disk behind a no-key name: base64 of two hashes and them."""
    if name in (b".", b".."):
        return name
    return base64.urlsafe_b64decode(name + b"=" * (-len(name) % 4))[8:]


def main():
    job = common.job()
    where = common.mounted(job["image"], job["mnt"], job["options"], True, job.get("journal"))
    with where as root:
        walk = Walk(root, job["block_size"])
        walk.visit(root, b"")
    common.answer({key: getattr(walk, key) for key in ("names", "inodes", "extents", "notes")})


if __name__ == "__main__":
    main()
