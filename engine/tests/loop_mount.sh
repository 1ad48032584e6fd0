# loop_mount IMAGE AT OPTIONS: mounts through a loop device that is always a new one.
# `mount -o loop` takes up a device that still holds the same file, which one that was
# just unmounted may do while another process looks at it; its cache is then of the
# image as it was.
loop_mount() {
    tries=0
    until device=$(losetup -f --show ${4:+-o "$4"} "$1"); do
        tries=$((tries + 1))
        [ $tries -lt 20 ] || return 1
        sleep 0.05
    done
    # Nothing of what the device was before.
    blockdev --flushbufs "$device"
    mount ${3:+-o "$3"} "$device" "$2"
    mounted=$?
    # It goes with the mount.
    losetup -d "$device"
    return $mounted
}
