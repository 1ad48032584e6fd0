#!/usr/bin/env bash
# Makes the base images for the fuzz target `reader` in the folder $1: small ones of
# many features, filled from a folder. In $1/programs: seeds for the target `program`.
set -euo pipefail
out=${1:?a folder to put the images in}
mkdir -p "$out"
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out/programs"
for f in "$here"/../tests/wrong_programs/*.fsl "$here"/../src/scenario/lang/prelude.fsl; do
  { printf 'fslabsed'; cat "$f"; } > "$out/programs/$(basename "$f")"
done
# Programs of the language's page, and the prelude's functions one by one.
awk -v out="$out/programs/page" '/^```fsl/{n++;on=1;printf "fslabsed" > (out n);next} /^```/{on=0} on{print > (out n)}' "$here/../docs/language.md"
src=$(mktemp -d)
trap 'rm -rf "$src"' EXIT
mkdir -p "$src/a/b/c" "$src/many"
head -c 20000 /dev/urandom > "$src/a/data"
printf tiny > "$src/a/tiny"
truncate -s 3M "$src/a/sparse"; printf end >> "$src/a/sparse"
for i in $(seq 1 14); do printf x | dd of="$src/a/pieces" bs=1 seek=$((i * 9000)) conv=notrunc status=none; done
ln -s tiny "$src/a/fast"
ln -s "$(printf 'l%.0s' $(seq 1 200))" "$src/a/slow"
ln "$src/a/tiny" "$src/a/b/hard"
mkfifo "$src/a/pipe"
for i in $(seq 1 60); do : > "$src/many/a-name-that-is-rather-long-to-fill-the-directory-$i"; done
setfattr -n user.small -v value "$src/a/data" 2>/dev/null || true
setfattr -n user.large -v "$(printf 'v%.0s' $(seq 1 600))" "$src/a/tiny" 2>/dev/null || true

make() { # name, size, options of mke2fs
  local img="$out/$1.img" size=$2
  shift 2
  rm -f "$img"
  truncate -s "$size" "$img"
  mke2fs -q -F "$@" -d "$src" "$img" >/dev/null 2>&1 || { rm -f "$img"; echo "left out: $img" >&2; }
}
make ext2 1M -t ext2 -b 1024 -N 128
make ext3 4M -t ext3 -b 1024 -N 128 -J size=1
make ext4 4M -t ext4 -b 1024 -N 128 -J size=1
make groups 1M -t ext4 -b 1024 -N 256 -g 256 -G 4 -O '^has_journal'
make inline 1M -t ext4 -b 1024 -N 128 -O inline_data,'^has_journal' -I 256
make bigalloc 2M -t ext4 -b 1024 -C 4096 -N 128 -O bigalloc,'^has_journal'
make metabg 1M -t ext4 -b 1024 -N 256 -g 256 -O meta_bg,'^resize_inode,^has_journal'
make csum32 1M -t ext4 -b 1024 -N 128 -O '^64bit,uninit_bg,^metadata_csum,^has_journal'
make large 1M -t ext4 -b 4096 -N 128 -O quota,project,large_dir,ea_inode,casefold,encrypt,'^has_journal'
make orphans 9M -t ext4 -b 4096 -N 128 -O orphan_file -J size=4
make mmp 1M -t ext4 -b 1024 -N 128 -O mmp,sparse_super2,'^resize_inode,^has_journal'
