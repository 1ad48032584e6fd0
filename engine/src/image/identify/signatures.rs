//! The table of marks, most telling first.

use super::{Kind, Peek, checks};

/// A format by its marks.
pub(super) struct Signature {
    pub kind: Kind,
    pub id: &'static str,
    pub name: &'static str,
    /// Completes the sentence; empty for what the kind says.
    pub advice: &'static str,
    /// Bytes at offsets, all of which must be there.
    pub marks: &'static [(u64, &'static [u8])],
    /// What must hold besides.
    pub check: Option<fn(&Peek<'_>) -> bool>,
}

macro_rules! signatures {
    ($table:ident: $($kind:ident $id:literal $name:literal $(=> $advice:literal)? ,
       $([$at:expr, $mark:expr])* $(, if $check:ident)? ;)*) => {
        pub(super) const $table: &[Signature] = &[$(
            Signature {
                kind: Kind::$kind,
                id: $id,
                name: $name,
                advice: concat!($($advice)?),
                marks: &[$(($at, $mark)),*],
                check: signatures!(@check $($check)?),
            },
        )*];
    };
    (@check) => { None };
    (@check $check:ident) => { Some(checks::$check) };
}

// What holds a copy of an ext superblock at its usual place, and is no filesystem.
signatures! { BEFORE_EXT:
    DiskImage "e2image" "e2image's own format" => "make a raw image with `e2image -r` and open that", [4, b"Ext2 Image 1."];
}

signatures! { SIGNATURES:
    // Layers under filesystems.
    Volume "luks" "a LUKS encrypted volume" => "unlock it with `cryptsetup open` and open the device that appears", [0, b"LUKS\xba\xbe"];
    Volume "bitlocker" "a BitLocker encrypted volume" => "unlock it with `cryptsetup open --type bitlk` and open the device that appears", [3, b"-FVE-FS-"];
    Volume "lvm2" "an LVM physical volume" => "activate its volume group and open a logical volume in /dev/mapper", , if lvm2;
    Volume "md" "a member of a Linux RAID array" => "assemble the array with `mdadm --assemble` and open the md device", [4096, b"\xfc\x4e\x2b\xa9"];
    Volume "md" "a member of a Linux RAID array" => "assemble the array with `mdadm --assemble` and open the md device", [0, b"\xfc\x4e\x2b\xa9"];
    Volume "bcache" "a bcache device" => "register it with bcache and open the device that appears", [4120, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"];
    Volume "android_super" "Android's dynamic partitions (super)" => "extract them with `lpunpack` and open one of the results", [4096, b"gDla"];
    Volume "apple_map" "a disk with an Apple partition map" => "cut the partition out and open that; fslab reads MBR and GPT tables", [0, b"ER"] [512, b"PM\0\0"];
    Volume "swap" "Linux swap space" => "it holds pages of memory, no files", , if swap;

    // Filesystems with their mark in the first sector.
    Filesystem "xfs" "an XFS filesystem", [0, b"XFSB"];
    Filesystem "ntfs" "an NTFS filesystem", [3, b"NTFS    "];
    Filesystem "exfat" "an exFAT filesystem", [3, b"EXFAT   "];
    Filesystem "squashfs" "a SquashFS filesystem", [0, b"hsqs"];
    Filesystem "squashfs" "a SquashFS filesystem (big-endian)", [0, b"sqsh"];
    Filesystem "cramfs" "a cramfs filesystem", [0, b"\x45\x3d\xcd\x28"] [16, b"Compressed ROMFS"];
    Filesystem "romfs" "a romfs filesystem", [0, b"-rom1fs-"];
    Filesystem "apfs" "an APFS container", [32, b"NXSB"];
    Filesystem "bfs" "an SCO boot filesystem", [0, b"\xce\xfa\xad\x1b"];
    Volume "ubi" "a UBI flash volume" => "it holds volumes for raw flash; fslab reads ext2, ext3 and ext4", [0, b"UBI#\x01"];
    Filesystem "ubifs" "a UBIFS filesystem", [0, b"\x31\x18\x10\x06"];
    Filesystem "jffs2" "a JFFS2 filesystem", [0, b"\x85\x19\x03\x20"];
    Filesystem "fat12" "a FAT12 filesystem", [510, b"\x55\xaa"] [0, b""], if fat12;
    Filesystem "fat16" "a FAT16 filesystem", [510, b"\x55\xaa"] [0, b""], if fat16;
    Filesystem "fat32" "a FAT32 filesystem", [510, b"\x55\xaa"] [0, b""], if fat32;

    // Filesystems with their mark further on.
    Filesystem "btrfs" "a Btrfs filesystem", [0x1_0040, b"_BHRfS_M"];
    Filesystem "bcachefs" "a bcachefs filesystem", [4120, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"];
    Filesystem "f2fs" "an F2FS filesystem", [1024, b"\x10\x20\xf5\xf2"];
    Filesystem "erofs" "an EROFS filesystem", [1024, b"\xe2\xe1\xf5\xe0"];
    Filesystem "hfsplus" "an HFS+ filesystem", [1024, b"H+\0\x04"];
    Filesystem "hfsx" "an HFSX filesystem", [1024, b"HX\0\x05"];
    Filesystem "jfs" "a JFS filesystem", [32768, b"JFS1"];
    Filesystem "reiserfs" "a ReiserFS filesystem", [0x1_0034, b"ReIsErFs"];
    Filesystem "reiserfs" "a ReiserFS filesystem", [0x1_0034, b"ReIsEr2Fs"];
    Filesystem "reiserfs" "a ReiserFS filesystem", [0x1_0034, b"ReIsEr3Fs"];
    Filesystem "reiserfs" "a ReiserFS filesystem (3.5)", [0x2034, b"ReIsErFs"];
    Filesystem "reiser4" "a Reiser4 filesystem", [0x1_0000, b"ReIsEr4"];
    Filesystem "ocfs2" "an OCFS2 filesystem", [1024, b"OCFSV2"];
    Filesystem "ocfs2" "an OCFS2 filesystem", [2048, b"OCFSV2"];
    Filesystem "ocfs2" "an OCFS2 filesystem", [4096, b"OCFSV2"];
    Filesystem "ocfs2" "an OCFS2 filesystem", [8192, b"OCFSV2"];
    Filesystem "gfs2" "a GFS2 filesystem", [0x1_0000, b"\x01\x16\x19\x70"];
    Filesystem "nilfs2" "a NILFS2 filesystem", [1028, b"\0\0\x34\x34"];
    Filesystem "ufs1" "a UFS filesystem", [8192 + 1372, b"\x54\x19\x01\0"];
    Filesystem "ufs2" "a UFS2 filesystem", [0x1_0000 + 1372, b"\x19\x01\x54\x19"];
    Filesystem "befs" "a Be filesystem", [512 + 32, b"1SFB"];
    Filesystem "udf" "a UDF filesystem", , if udf;
    Filesystem "iso9660" "an ISO 9660 filesystem (CD or DVD image)", [32769, b"CD001"];
    Volume "zfs" "a member of a ZFS pool" => "import the pool with `zpool import`; fslab reads ext2, ext3 and ext4", , if zfs;
    Filesystem "minix" "a Minix filesystem", , if minix;
    Filesystem "hfs" "an HFS filesystem", [1024, b"BD"] [1060, b"\0"];

    // Files of virtual disks, backups, forensics.
    DiskImage "vmdk" "a VMware disk (VMDK)", [0, b"KDMV"];
    DiskImage "vmdk_descriptor" "the description of a VMware disk (VMDK)" => "the data is in the files that it names: convert both with `qemu-img convert -O raw`", [0, b"# Disk DescriptorFile"];
    DiskImage "vhdx" "a Hyper-V disk (VHDX)", [0, b"vhdxfile"];
    DiskImage "vhd" "a Virtual PC disk (VHD)", [0, b"conectix"];
    DiskImage "vdi" "a VirtualBox disk (VDI)", [64, b"\x7f\x10\xda\xbe"];
    DiskImage "qcow" "a QEMU disk (qcow)", [0, b"QFI\xfb"];
    DiskImage "qed" "a QEMU disk (QED)", [0, b"QED\0"];
    DiskImage "parallels" "a Parallels disk", [0, b"WithoutFreeSpace"];
    DiskImage "parallels" "a Parallels disk", [0, b"WithouFreSpacExt"];
    DiskImage "ewf" "a forensic image (EWF, E01)" => "export it with `ewfexport -f raw` and open the result", [0, b"EVF\x09\x0d\x0a\xff\0"];
    DiskImage "partclone" "a Partclone backup" => "restore it with `partclone.restore` and open the result", [0, b"partclone-image"];
    DiskImage "wim" "a Windows image (WIM)" => "apply it to a filesystem; fslab reads ext2, ext3 and ext4", [0, b"MSWIM\0\0\0"];
    DiskImage "boot_img" "an Android boot image" => "it holds a kernel, no filesystem", [0, b"ANDROID!"];

    // Packed files.
    Archive "bzip2" "a bzip2 file" => "unpack it with `bunzip2` and open the result; fslab expands gzip, zstd and xz itself", [0, b"BZh"], if bzip2;
    Archive "lz4" "an LZ4 file" => "unpack it with `lz4 -d` and open the result; fslab expands gzip, zstd and xz itself", [0, b"\x04\x22\x4d\x18"];
    Archive "lzop" "an lzop file", [0, b"\x89LZO\0\r\n\x1a\n"];
    Archive "lzip" "an lzip file", [0, b"LZIP\x01"];
    Archive "gzip" "a gzip file", [0, b"\x1f\x8b\x08"];
    Archive "xz" "an xz file", [0, b"\xfd7zXZ\0"];
    Archive "zstd" "a zstd file", [0, b"\x28\xb5\x2f\xfd"];
    Archive "7z" "a 7-Zip archive", [0, b"7z\xbc\xaf\x27\x1c"];
    Archive "rar" "a RAR archive", [0, b"Rar!\x1a\x07"];
    Archive "cab" "a cabinet archive", [0, b"MSCF\0\0\0\0"];
    Archive "zip" "a ZIP archive (or a document or app in one)", [0, b"PK\x03\x04"];
    Archive "zip" "an empty ZIP archive", [0, b"PK\x05\x06"];
    Archive "tar" "a tar archive", [257, b"ustar"];
    Archive "tar" "a tar archive", , if tar;
    Archive "cpio" "a cpio archive", [0, b"070701"];
    Archive "ar" "an ar archive or Debian package", [0, b"!<arch>\n"];
    Archive "rpm" "an RPM package", [0, b"\xed\xab\xee\xdb"];

    // Other files.
    File "jpeg" "a JPEG picture", [0, b"\xff\xd8\xff"];
    File "png" "a PNG picture", [0, b"\x89PNG\r\n\x1a\n"];
    File "gif" "a GIF picture", [0, b"GIF87a"];
    File "gif" "a GIF picture", [0, b"GIF89a"];
    File "webp" "a WebP picture", [0, b"RIFF"] [8, b"WEBP"];
    File "wav" "a WAV recording", [0, b"RIFF"] [8, b"WAVE"];
    File "mp4" "a video or picture (MP4 family)", [4, b"ftyp"];
    File "matroska" "a Matroska or WebM video", [0, b"\x1a\x45\xdf\xa3"];
    File "ogg" "an Ogg recording", [0, b"OggS"];
    File "mp3" "an MP3 recording", [0, b"ID3"];
    File "pdf" "a PDF document", [0, b"%PDF-"];
    File "elf" "an ELF program or library", [0, b"\x7fELF"];
    File "pe" "a Windows program", [0, b"MZ"], if windows_program;
    File "sqlite" "an SQLite database", [0, b"SQLite format 3\0"];
    File "wasm" "a WebAssembly module", [0, b"\0asm\x01\0\0\0"];
    File "git_lfs" "a pointer of Git LFS, not the file itself" => "fetch the file with `git lfs pull`", [0, b"version https://git-lfs"];

    // Marks at the end: the beginning would have said more.
    DiskImage "vhd" "a Virtual PC disk (VHD)", , if vhd_footer;
    DiskImage "dmg" "an Apple disk image (DMG)" => "convert it with `dmg2img` or `hdiutil convert` and open the result", , if dmg;
    Volume "md" "a member of a Linux RAID array" => "assemble the array with `mdadm --assemble` and open the md device", , if md_at_end;

    // A journal without its filesystem.
    File "jbd2" "a journal of jbd2 without its filesystem" => "open the image of the filesystem instead", [0, b"\xc0\x3b\x39\x98\0\0\0\x04"];
    File "jbd2" "a journal of jbd2 without its filesystem" => "open the image of the filesystem instead", [0, b"\xc0\x3b\x39\x98\0\0\0\x03"];
}
