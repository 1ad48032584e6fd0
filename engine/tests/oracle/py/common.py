"""Loop devices and mounts that cannot outlive the process that made them.

Every script here is started under `unshare -m` (see kernel.rs): its mounts are
in a namespace of their own and vanish with it, and its loop devices carry
AUTOCLEAR, so that even a SIGKILL leaves nothing behind.
"""
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import struct
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
LOOP_CTL_GET_FREE = 0x4C82
LOOP_CONFIGURE = 0x4C0A
LO_FLAGS_READ_ONLY = 1
LO_FLAGS_AUTOCLEAR = 4
MS_RDONLY = 1
MS_NOATIME = 1024


def libc_call(result, what):
    """Raises the errno of a libc call that answered -1."""
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


@contextlib.contextmanager
def loop_device(path, readonly=False):
    """Yields the name of a loop device over `path`."""
    backing = os.open(path, os.O_RDONLY if readonly else os.O_RDWR)
    flags = LO_FLAGS_AUTOCLEAR | (LO_FLAGS_READ_ONLY if readonly else 0)
    # struct loop_config: fd, block size, then loop_info64 whose flags are at 52.
    info = bytearray(232)
    struct.pack_into("<I", info, 52, flags)
    config = struct.pack("<II", backing, 0) + bytes(info) + bytes(64)
    device, name = _configure(config, readonly)
    os.close(backing)
    try:
        yield name
    finally:
        os.close(device)


def _configure(config, readonly):
    # Between asking for a free device and taking it another process may win.
    for _ in range(200):
        control = os.open("/dev/loop-control", os.O_RDWR)
        name = f"/dev/loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
        os.close(control)
        device = os.open(name, os.O_RDONLY if readonly else os.O_RDWR)
        try:
            fcntl.ioctl(device, LOOP_CONFIGURE, config)
            return device, name
        except OSError as error:
            os.close(device)
            if error.errno != errno.EBUSY:
                raise
            time.sleep(0.01)
    raise OSError(errno.EBUSY, "no free loop device")


@contextlib.contextmanager
def mounted(image, mountpoint, options="", readonly=False, journal=None):
    """Yields `mountpoint` as bytes, with `image` mounted there as ext4."""
    with contextlib.ExitStack() as stack:
        device = stack.enter_context(loop_device(image, readonly))
        if journal:
            # The number of the device is in the superblock, but a loop
            # device's number is chance: say where the journal is.
            log = stack.enter_context(loop_device(journal, readonly))
            options = ",".join(filter(None, [options, f"journal_path={log}"]))
        flags = MS_NOATIME | (MS_RDONLY if readonly else 0)
        target = os.fsencode(os.path.abspath(mountpoint))
        done = LIBC.mount(device.encode(), target, b"ext4", flags, options.encode())
        libc_call(done, f"mount {image} ({options})")
        try:
            yield target
        finally:
            unmount(target)


def unmount(target):
    for _ in range(100):
        if LIBC.umount2(target, 0) == 0:
            return
        time.sleep(0.02)
    libc_call(LIBC.umount2(target, 2), f"umount {target!r}")


def text(data):
    """Bytes as a JSON string: one character, U+0000 to U+00FF, a byte."""
    return data.decode("latin-1")


def job():
    """The request: one JSON object, the only argument."""
    return json.loads(sys.argv[1])


def answer(value):
    json.dump(value, sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")
