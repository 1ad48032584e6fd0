"""What only some recipes are filled with, and the ioctls that Python lacks."""
import fcntl
import os
import struct

FS_IOC_GETFLAGS = 0x80086601
FS_IOC_SETFLAGS = 0x40086602
FS_IOC_ADD_ENCRYPTION_KEY = 0xC0506617
FS_IOC_SET_ENCRYPTION_POLICY = 0x800C6613


def set_flags(path, bits):
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        now = struct.unpack("<I", fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(4)))[0]
        fcntl.ioctl(fd, FS_IOC_SETFLAGS, struct.pack("<I", now | bits))
    finally:
        os.close(fd)


def acl(path, kind, user):
    """A POSIX ACL in the kernel's form: version 2, then tag, permission, id."""
    nobody = 0xFFFFFFFF
    rows = [(1, 7, nobody), (2, 5, user), (4, 5, nobody), (8, 4, user + 1), (16, 5, nobody), (32, 1, nobody)]
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)
    os.setxattr(path, f"system.posix_acl_{kind}", value)


def _links(f, directory, count, width):
    """`count` long names for a few inodes: a big directory, few blocks."""
    os.mkdir(f.path(directory))
    pad = b"x" * (width - 8)
    for index in range(count):
        name = directory + b"/%07d-" % index + pad
        if index % 20000 == 0:
            first = name
            f.write(first, b"linked\n")
        else:
            os.link(f.path(first), f.path(name))


def htree2(f):
    _links(f, b"htree2", 1200, 250)


def htree3(f):
    _links(f, b"htree3", 30000, 250)


def big_values(f):
    """Values that need inodes of their own, one of them shared."""
    os.mkdir(f.path(b"ea"))
    shared = f.bytes(9000)
    for name, values in {
        b"one": {"user.shared": shared, "user.small": b"s"},
        b"two": {"user.shared": shared},
        b"big": {"user.a": f.bytes(60000), "user.b": f.bytes(f.bs), "trusted.c": f.bytes(5000)},
    }.items():
        f.write(b"ea/" + name, name)
        for key, value in values.items():
            os.setxattr(f.path(b"ea/" + name), key, value)


def encrypted(f):
    """A directory that the kernel itself encrypts; the key is then forgotten."""
    os.mkdir(f.path(b"secret"))
    fd = os.open(f.path(b"secret"), os.O_RDONLY)
    key = bytes(range(64))
    by_identifier = 2
    request = bytearray(struct.pack("<II32s", by_identifier, 0, b""))
    request += struct.pack("<II32s", len(key), 0, b"") + key
    fcntl.ioctl(fd, FS_IOC_ADD_ENCRYPTION_KEY, request)
    identifier = bytes(request[8:24])
    # Version 2, AES-256-XTS contents, AES-256-CTS names padded to 32.
    policy = struct.pack("<BBBB4s16s", 2, 1, 4, 3, b"", identifier)
    fcntl.ioctl(fd, FS_IOC_SET_ENCRYPTION_POLICY, policy)
    os.close(fd)
    os.mkdir(f.path(b"secret/inner"))
    for index in range(120):
        f.write(b"secret/name-%03d" % index, b"hidden %d\n" % index)
    f.write(b"secret/inner/big", f.bytes(3 * f.bs + 11))
    os.symlink(b"name-001", f.path(b"secret/link"))
    os.mkfifo(f.path(b"secret/fifo"))


def inline(f):
    """Around the lengths where inline data moves to the xattr, then to blocks."""
    os.mkdir(f.path(b"inline"))
    for size in (1, 59, 60, 61, 64, 90, 120, 140, 150, 155, 158, 159, 160, 161, 162, 170):
        f.write(b"inline/%d" % size, f.bytes(size))
    f.write(b"inline/with-xattr", f.bytes(80))
    os.setxattr(f.path(b"inline/with-xattr"), "user.x", b"beside the data")
    f.write(b"inline/long-hole", b"ab")
    os.truncate(f.path(b"inline/long-hole"), 130)
    for count in (1, 3, 6, 12):
        os.mkdir(f.path(b"inline/dir-%d" % count))
        for index in range(count):
            f.write(b"inline/dir-%d/e%d" % (count, index), b"")


def spread(f):
    """Directories in the root are put far from one another, with their files."""
    for index in range(60):
        os.mkdir(f.path(b"far-%03d" % index))
        # More than 16 blocks, written out after closing: only such a file is
        # put near its inode, not where the last one ended.
        f.write(b"far-%03d/file" % index, b"%07d\n" % index * 10000)


EXTRAS = {
    function.__name__: function
    for function in (htree2, htree3, big_values, encrypted, inline, spread)
}
