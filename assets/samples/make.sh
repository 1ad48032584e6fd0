#!/bin/bash
# Makes the sample images again: ./make.sh [DIRECTORY [NAME …]] (default: beside this
# script, and all).
# Needs root, a kernel with ext4 and loop devices, e2fsprogs 1.47, util-linux, awk, xz.
# README.md says what is in each and what differs from one run to the next.
set -euo pipefail
export LC_ALL=C TZ=UTC
export PATH="$PATH:/usr/sbin:/sbin"
umask 022

# In a mount namespace of its own and on one processor: nothing stays mounted, "last
# mounted on" is always /mnt, and the allocator's lists per processor are one.
if [ -z "${SAMPLES_INNER:-}" ]; then
    here=$(cd "$(dirname "$0")" && pwd)
    exec env SAMPLES_INNER=1 unshare -m --propagation private \
        taskset -c 0 bash "$here/make.sh" "$(cd "${1:-$here}" && pwd)" "${@:2}"
fi
out=$1
[ $# -gt 1 ] || set -- "$out" small ext2 journal damaged
work=$(mktemp -d)
# mke2fs takes nothing from this machine's settings.
{ echo '[fs_types]'; printf '%s = {\ninode_ratio = 8192\n}\n' ext2 ext3 ext4 small floppy; } >"$work/mke2fs.conf"
export MKE2FS_CONFIG=$work/mke2fs.conf
trap 'umount /mnt 2>/dev/null; rm -rf "$work"' EXIT

# text NAME KIB LINE: KIB KiB of text. Each KiB says which it is, so that a block in the
# hex view tells where it belongs; the rest is the line again and again.
text() {
    awk -v name="$1" -v kib="$2" -v line="$3" 'BEGIN {
        for (i = 0; i < kib; i++) {
            s = sprintf("%s, KiB %d of %d\n", name, i + 1, kib)
            while (length(s) < 1024) s = s line "\n"
            printf "%s\n", substr(s, 1, 1023)
        }
    }'
}

# inodes IMG: numbers of the inodes in use from 11 on, and of the root.
inodes() {
    echo 2
    dumpe2fs "$1" 2>/dev/null | awk '
        /^Inodes per group:/ { per = $4 }
        /^Inode count:/ { count = $3 }
        /^Group [0-9]+:/ { g = $2 + 0 }
        /^  Free inodes:/ {
            sub(/^  Free inodes: */, "")
            n = split($0, parts, /, */)
            for (k = 1; k <= n; k++) {
                if (split(parts[k], ends, "-") == 1) ends[2] = ends[1]
                for (i = ends[1]; i <= ends[2]; i++) if (parts[k] != "") free[i] = 1
            }
        }
        END { for (i = 11; i <= count; i++) if (!(i in free)) print i }'
}

# edit IMG < COMMANDS: debugfs, at the fake time; fails when a command does.
edit() {
    debugfs -w -f - "$1" >"$work/edit.log" 2>&1
    if grep -vE '^debugfs( 1|:)|^Allocated inode:|^$|^Kill_file|^Note: ' "$work/edit.log" >&2; then
        echo "debugfs on $1 said the above" >&2
        return 1
    fi
}

# ask IMG COMMAND
ask() { debugfs -R "$2" "$1" 2>/dev/null; }

# same_times IMG SECONDS: every inode, and the superblock, of one time.
same_times() {
    local ino field
    {
        for ino in $(inodes "$1"); do
            for field in atime ctime mtime crtime; do
                echo "set_inode_field <$ino> $field @$2"
                echo "set_inode_field <$ino> ${field}_extra 0"
            done
        done
        echo "set_super_value mtime @$2"
        echo "set_super_value kbytes_written 0"
    } | edit "$1"
}

# pack IMG
pack() {
    xz --format=xz --check=crc32 --lzma2=preset=9e,dict=8MiB -T1 -c "$1" >"$out/$(basename "$1").xz"
}

# clean IMG: e2fsck finds nothing.
clean() { e2fsck -fn "$1" >"$work/fsck.log" 2>&1 || { cat "$work/fsck.log"; exit 1; }; }

# ---- small: a small ext4 -------------------------------------------------------------
small() {
    local img=$work/small.img i
    export E2FSPROGS_FAKE_TIME=1714564800 # 2024-05-01 12:00:00
    truncate -s 8M "$img"
    mke2fs -q -F -b 1024 -I 256 -N 512 -g 1024 -G 4 -J size=1 -m 1 -L small \
        -O none,has_journal,ext_attr,resize_inode,dir_index,orphan_file,filetype,extent,64bit,flex_bg,metadata_csum,metadata_csum_seed,sparse_super,large_file,huge_file,dir_nlink,extra_isize \
        -U 5a11e57a-0000-4000-8000-000000000001 \
        -E hash_seed=5a11e57a-0000-4000-8000-0000000000aa,lazy_itable_init=0,lazy_journal_init=0,resize=65536 "$img"
    # Without delayed allocation: blocks are chosen by the writer, not by a worker on some
    # processor, and so the same each time.
    mount -o loop,commit=300,nodelalloc "$img" /mnt
    (
        cd /mnt
        mkdir docs src photos photos/2023 photos/2024 mail database odd backup
        text docs/README.txt 1 "Every block of this filesystem says whose it is." >docs/README.txt
        text docs/thesis.txt 60 "It was a dark and stormy night; the rain fell in torrents." >docs/thesis.txt
        text docs/notes.txt 3 "Remember the milk." >docs/notes.txt
        text docs/LICENSE.txt 2 "This file cannot be changed: its immutable flag is set." >docs/LICENSE.txt
        text src/main.c 4 "int main(void) { return 0; }" >src/main.c
        text src/hash.c 7 "static unsigned hash(const char *s);" >src/hash.c
        printf 'all:\n\tcc -o main main.c hash.c\n' >src/Makefile
        for i in beach mountain sunset; do
            text "photos/2023/$i.jpg" 24 "a photograph, in words: $i" >"photos/2023/$i.jpg"
            text "photos/2024/$i.jpg" 9 "another photograph, in words: $i" >"photos/2024/$i.jpg"
        done
        sync -f .

        # A directory large enough for a hash tree.
        for ((i = 1; i <= 300; i++)); do
            printf 'Subject: letter %d\n' "$i" >"mail/letter-$(printf %03d "$i").eml"
        done
        sync -f .

        # Two logs that grow by turns, each time down to the disk: both fragmented, with more
        # extents than the inode has room for.
        for ((i = 0; i < 18; i++)); do
            text "src/build.log, turn $i" 3 "cc -c main.c" | dd of=src/build.log oflag=append conv=notrunc,fsync status=none
            text "src/test.log, turn $i" 2 "ok" | dd of=src/test.log oflag=append conv=notrunc,fsync status=none
        done

        # Mostly holes.
        truncate -s 64M database/sparse.img
        for i in 0 1000 20000 65000; do
            text "database/sparse.img, at KiB $i" 4 "an island in a hole" |
                dd of=database/sparse.img bs=1k seek="$i" conv=notrunc,fsync status=none
        done
        # Allocated and not yet written, but for the beginning and a piece in the middle.
        fallocate -l 256K database/table.db
        text database/table.db 16 "a row of a table" | dd of=database/table.db conv=notrunc,fsync status=none
        text database/table.db 4 "a row in the middle" | dd of=database/table.db bs=1k seek=100 conv=notrunc,fsync status=none

        ln -s notes.txt docs/latest
        ln -s "../photos/2023/../2024/../2023/../2024/../2023/../2024/../2023/beach.jpg" docs/the-long-way-to-the-beach
        ln docs/thesis.txt backup/thesis.txt
        ln docs/thesis.txt backup/thesis-again.txt
        echo 'A name with markup, which has to be shown as text.' >'odd/<b>bold<b>'
        echo 'Another.' >'odd/<img src=x onerror=alert(1)>'
        echo 'A name with a newline in it.' >odd/$'two\nlines'
        echo 'A name that is not UTF-8.' >odd/$'caf\xe9'
        echo 'Japanese.' >odd/日本語
        : >odd/empty
        mkfifo odd/fifo
        mknod odd/null c 1 3
        mkdir odd/empty-directory
        chown 1000:1000 docs/notes.txt src/main.c
        chmod 600 docs/notes.txt
        chmod 4755 src/Makefile

        # Deleted: its blocks are free again, its words still in them.
        text docs/draft.txt 20 "This draft was deleted, and here it still is." >docs/draft.txt
        sync -f .
        rm docs/draft.txt
        chattr +i docs/LICENSE.txt
        chattr +a src/build.log
    )
    umount /mnt
    text user.description 1 "An attribute too long for the inode: it has a block." | head -c 700 >"$work/long"
    {
        echo "ea_set /photos/2023/beach.jpg user.comment swimming"
        echo "ea_set /photos/2023/beach.jpg user.rating 5"
        echo "ea_set -f $work/long /photos/2023/sunset.jpg user.description"
        echo "ea_set /photos/2023/sunset.jpg user.rating 3"
    } | edit "$img"
    same_times "$img" "$E2FSPROGS_FAKE_TIME"
    clean "$img"
    pack "$img"
}

# ---- ext2: ext2 from the nineties ----------------------------------------------------
ext2() {
    local img=$work/ext2.img d i
    export E2FSPROGS_FAKE_TIME=836222400 # 1996-07-01 12:00:00
    truncate -s 10M "$img"
    mke2fs -q -F -b 1024 -I 128 -N 512 -m 5 -O none -r 1 -E hash_seed=5a11e57a-0000-4000-8000-0000000000bb \
        -U 5a11e57a-0000-4000-8000-000000000002 -L linux "$img"
    # A core dump with a piece for each kind of block number: direct (KiB 0-11), by one
    # indirect block (12-267), by two (268-65803), by three (65804 and up).
    truncate -s 70M "$work/core"
    for i in 0 100 20000 67000; do
        text "var/core, at KiB $i" 6 "Segmentation fault (core dumped)" |
            dd of="$work/core" bs=1k seek="$i" conv=notrunc status=none
    done
    text vmlinuz 400 "Uncompressing Linux... Ok, booting the kernel." >"$work/vmlinuz"
    text etc/passwd 1 "root::0:0:root:/root:/bin/sh" >"$work/passwd"
    text etc/motd 2 "Welcome to Linux 1.2.13." >"$work/motd"
    text etc/fstab 1 "/dev/hda1 / ext2 defaults 1 1" >"$work/fstab"
    text bin/sh 90 "a shell, in words" >"$work/sh"
    text bin/ls 14 "a program that lists, in words" >"$work/ls"
    text sched.c 30 "void schedule(void);" >"$work/sched.c"
    text tags 300 "schedule sched.c /^void schedule/" >"$work/tags"
    text .plan 1 "World domination. Fast." >"$work/plan"
    text news 12 "From: somebody@somewhere  Newsgroups: comp.os.minix" >"$work/news"
    {
        for d in bin dev etc home home/linus usr usr/src usr/src/linux usr/src/linux/kernel \
            usr/src/linux/fs usr/games var var/spool var/spool/news tmp; do
            echo "mkdir /$d"
        done
        echo "write $work/vmlinuz vmlinuz"
        echo "cd /bin" && echo "write $work/sh sh" && echo "write $work/ls ls" && echo "ln sh bash"
        echo "set_inode_field sh links_count 2"
        echo "set_inode_field sh mode 0100755" && echo "set_inode_field ls mode 0100755"
        echo "cd /dev" && echo "mknod hda b 3 0" && echo "mknod hda1 b 3 1" && echo "mknod fd0 b 2 0"
        echo "mknod tty1 c 4 1" && echo "mknod null c 1 3" && echo "mknod gpmctl p"
        for d in hda hda1 fd0; do echo "set_inode_field $d mode 060660"; done
        for d in tty1 null; do echo "set_inode_field $d mode 020666"; done
        echo "set_inode_field gpmctl mode 010666"
        echo "cd /etc" && echo "write $work/passwd passwd" && echo "write $work/motd motd" && echo "write $work/fstab fstab"
        echo "symlink rc /usr/src/linux" && echo "symlink magic ../usr/src/linux/../linux/../linux/../linux/../linux/../linux/tags"
        echo "cd /home/linus" && echo "write $work/plan .plan"
        echo "cd /usr/src/linux/kernel" && echo "write $work/sched.c sched.c"
        echo "cd /usr/src/linux" && echo "write $work/tags tags"
        echo "cd /var" && echo "write $work/core core"
        echo "cd /var/spool/news" && echo "write $work/news 1000" && echo "write $work/news 1001" && echo "write $work/news 1002"
        echo "rm 1001"
    } | edit "$img"
    clean "$img"
    pack "$img"
}

# ---- journal: a journal in use -------------------------------------------------------
journal() {
    local img=$work/journal.img i
    export E2FSPROGS_FAKE_TIME=1714564800
    truncate -s 6M "$work/live.img"
    mke2fs -q -F -b 1024 -I 256 -N 256 -J size=1 -m 1 -L journal \
        -O none,has_journal,ext_attr,dir_index,filetype,extent,64bit,flex_bg,metadata_csum,sparse_super,large_file,huge_file,dir_nlink,extra_isize \
        -U 5a11e57a-0000-4000-8000-000000000003 \
        -E hash_seed=5a11e57a-0000-4000-8000-0000000000cc,lazy_itable_init=0,lazy_journal_init=0 "$work/live.img"
    # What was there before, on the disk for good.
    mount -o loop,commit=300 "$work/live.img" /mnt
    mkdir /mnt/accounts /mnt/orders
    text accounts/ledger.txt 8 "1 pound of nails, sold" >/mnt/accounts/ledger.txt
    for i in 1 2 3 4 5 6; do text "orders/order-$i" 1 "1 pound of nails" >/mnt/orders/order-$i; done
    umount /mnt
    # A busy minute. fsync makes a transaction each time, and leaves the blocks at home as
    # they were: they are only in the journal.
    mount -o loop,commit=300 "$work/live.img" /mnt
    (
        cd /mnt
        for i in 7 8; do text "orders/order-$i" 2 "2 pounds of nails" >orders/order-$i; done
        # One reaches the disk; of the other there is only the name yet.
        sync orders/order-7
        text "accounts/ledger.txt, new page" 4 "2 pounds of nails, sold" >>accounts/ledger.txt
        sync accounts/ledger.txt
        # A directory of several blocks, all of them in the journal …
        mkdir scratch
        for ((i = 1; i <= 90; i++)); do : >"scratch/sum-of-column-$(printf %03d "$i")"; done
        sync scratch
        # … and gone again: their copies must not be replayed any more.
        rm -r scratch
        sync .
        # Their blocks now hold a file's data, which is not in the journal.
        text accounts/report.txt 40 "The business is doing well." >accounts/report.txt
        sync accounts/report.txt
        mv orders/order-1 orders/order-1-done
        rm orders/order-2
        sync orders
        # Open, and deleted: an orphan until it is closed.
        text draft 12 "Nobody can open this file by name any more." >draft
        sync draft
        exec 9<draft
        rm draft
        chmod 600 accounts/ledger.txt
        sync accounts/ledger.txt
        cp --sparse=never "$work/live.img" "$img"
        exec 9<&-
    )
    umount /mnt
    pack "$img"
}

# ---- damaged: a damaged one ----------------------------------------------------------
# first IMG PATH: the file's first block
first() { ask "$1" "blocks $2" | awk '{ print $1 }'; }

# patch IMG OFFSET BYTES: BYTES in printf's escapes
patch() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

damaged() {
    local img=$work/damaged.img f block offset
    export E2FSPROGS_FAKE_TIME=1714564800
    truncate -s 20M "$img"
    mke2fs -q -F -b 1024 -I 256 -N 192 -m 1 -L damaged \
        -O none,ext_attr,dir_index,filetype,extent,64bit,metadata_csum,sparse_super,large_file,huge_file,dir_nlink,extra_isize \
        -U 5a11e57a-0000-4000-8000-000000000004 \
        -E hash_seed=5a11e57a-0000-4000-8000-0000000000dd,lazy_itable_init=0 "$img"
    {
        echo "mkdir /healthy" && echo "mkdir /hurt"
        for f in healthy/poem.txt:30 healthy/recipe.txt:5 hurt/past-the-end.txt:8 hurt/mine.txt:12 \
            hurt/mine-too.txt:1 hurt/marked-free.txt:10 hurt/flipped-bit.txt:6; do
            text "${f%:*}" "${f#*:}" "Rough winds do shake the darling buds of May." >"$work/text"
            cp "$work/text" "$work/$(basename "${f%:*}")"
            echo "cd /$(dirname "$f")"
            echo "write $work/$(basename "${f%:*}") $(basename "${f%:*}")"
        done
    } | edit "$img"
    clean "$img"
    # The words of i_block: 0-2 the extent header, 3 the first extent's logical block, 4 its
    # length and the high half of its physical block, 5 the low half.
    {
        # An extent past the end, which is at block 20480; the blocks it had are free again.
        echo "freeb $(first "$img" /hurt/past-the-end.txt) 8"
        echo "set_inode_field /hurt/past-the-end.txt block[5] 30000"
        # Two files claim one block; the block that the second had is free again.
        echo "freeb $(first "$img" /hurt/mine-too.txt)"
        echo "set_inode_field /hurt/mine-too.txt block[5] $(($(first "$img" /hurt/mine.txt) + 4))"
        # Three blocks of a file are free by the bitmap.
        echo "freeb $(($(first "$img" /hurt/marked-free.txt) + 3)) 3"
        # Five blocks are used by the bitmap, but nobody's.
        echo "setb 4000 5"
    } | edit "$img"
    # One bit of a file's mtime, without its checksum.
    # (i_mtime is at byte 16 of the inode; 1714564800 is 0x66322ec0, ends in c0, becomes c1.)
    read -r block offset < <(ask "$img" "imap /hurt/flipped-bit.txt" |
        sed -nE 's/.*located at block ([0-9]+), offset (0x[0-9a-f]+).*/\1 \2/p')
    patch "$img" $((block * 1024 + offset + 16)) '\xc1'
    # No superblock where it should be; the next is in block 8193. Its descriptors, in block
    # 8194, are those of mke2fs: they get what has happened since, as by e2fsck's last visit.
    dd if="$img" of="$img" bs=1024 skip=2 seek=8194 count=1 conv=notrunc status=none
    dd if=/dev/zero of="$img" bs=1024 seek=1 count=1 conv=notrunc status=none
    pack "$img"
}

for image in "${@:2}"; do "$image"; done
ls -l "$out"/*.img.*
