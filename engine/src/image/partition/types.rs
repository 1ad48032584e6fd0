//! What the types of partitions mean. Source: util-linux's `fdisk` and the Discoverable
//! Partitions Specification.

/// The meaning of an MBR type.
pub(super) fn mbr(kind: u8) -> &'static str {
    match MBR.binary_search_by_key(&kind, |&(k, _)| k) {
        Ok(i) => MBR[i].1,
        Err(_) => "Unknown",
    }
}

/// The meaning of a GPT type, a GUID in capitals.
pub(super) fn gpt(code: &str) -> &'static str {
    GPT.iter()
        .find(|&&(guid, _)| guid == code)
        .map_or("Unknown", |&(_, name)| name)
}

/// In the order of the numbers.
const MBR: &[(u8, &str)] = &[
    (0x01, "FAT12"),
    (0x04, "FAT16, below 32 MiB"),
    (0x05, "Extended"),
    (0x06, "FAT16"),
    (0x07, "NTFS, exFAT or HPFS"),
    (0x0b, "FAT32"),
    (0x0c, "FAT32 (LBA)"),
    (0x0e, "FAT16 (LBA)"),
    (0x0f, "Extended (LBA)"),
    (0x11, "Hidden FAT12"),
    (0x12, "Recovery or diagnostics"),
    (0x14, "Hidden FAT16, below 32 MiB"),
    (0x16, "Hidden FAT16"),
    (0x17, "Hidden NTFS"),
    (0x1b, "Hidden FAT32"),
    (0x1c, "Hidden FAT32 (LBA)"),
    (0x1e, "Hidden FAT16 (LBA)"),
    (0x27, "Hidden NTFS (Windows recovery)"),
    (0x39, "Plan 9"),
    (0x41, "PowerPC PReP boot"),
    (0x42, "Windows dynamic disk"),
    (0x63, "GNU Hurd"),
    (0x81, "Minix"),
    (0x82, "Linux swap"),
    (0x83, "Linux"),
    (0x84, "Hibernation"),
    (0x85, "Linux extended"),
    (0x86, "NTFS volume set"),
    (0x87, "NTFS volume set"),
    (0x88, "Linux plaintext"),
    (0x8e, "Linux LVM"),
    (0xa5, "FreeBSD"),
    (0xa6, "OpenBSD"),
    (0xa8, "Darwin UFS"),
    (0xa9, "NetBSD"),
    (0xab, "Darwin boot"),
    (0xaf, "HFS or HFS+"),
    (0xbe, "Solaris boot"),
    (0xbf, "Solaris"),
    (0xda, "Data without a filesystem"),
    (0xea, "Linux extended boot"),
    (0xeb, "BeOS"),
    (0xee, "GPT protective"),
    (0xef, "EFI system"),
    (0xfb, "VMware VMFS"),
    (0xfc, "VMware swap"),
    (0xfd, "Linux RAID"),
];

const GPT: &[(&str, &str)] = &[
    ("C12A7328-F81F-11D2-BA4B-00A0C93EC93B", "EFI system"),
    (
        "024DEE41-33E7-11D3-9D69-0008C781F39F",
        "MBR partition scheme",
    ),
    ("21686148-6449-6E6F-744E-656564454649", "BIOS boot"),
    ("0FC63DAF-8483-4772-8E79-3D69D8477DE4", "Linux filesystem"),
    ("0657FD6D-A4AB-43C4-84E5-0933C84B4F4F", "Linux swap"),
    ("A19D880F-05FC-4D3B-A006-743F0F84911E", "Linux RAID"),
    ("E6D6D379-F507-44C2-A23C-238F2A3DF928", "Linux LVM"),
    ("933AC7E1-2EB4-4F13-B844-0E14E2AEF915", "Linux home"),
    ("3B8F8425-20E0-4F3B-907F-1A25A76F98E8", "Linux server data"),
    (
        "4D21B016-B534-45C2-A9FB-5C16E091FD2D",
        "Linux variable data",
    ),
    (
        "7EC6F557-3BC5-4ACA-B293-16EF5DF639D1",
        "Linux temporary data",
    ),
    ("773F91EF-66D4-49B5-BD83-D683BF40AD16", "Linux user's home"),
    (
        "BC13C2FF-59E6-4262-A352-B275FD6F7172",
        "Linux extended boot",
    ),
    ("8DA63339-0007-60C0-C436-083AC8230908", "Linux reserved"),
    ("44479540-F297-41B2-9AF7-D131D5F0458A", "Linux root (x86)"),
    (
        "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709",
        "Linux root (x86-64)",
    ),
    ("69DAD710-2CE4-4E3C-B16C-21A1D49ABED3", "Linux root (ARM)"),
    (
        "B921B045-1DF0-41C3-AF44-4C6F280D3FAE",
        "Linux root (ARM-64)",
    ),
    (
        "72EC70A6-CF74-40E6-BD49-4BDA08E8F224",
        "Linux root (RISC-V 64)",
    ),
    (
        "8484680C-9521-48C6-9C11-B0720656F69E",
        "Linux /usr (x86-64)",
    ),
    (
        "B0E01050-EE5F-4390-949A-9101B17104E9",
        "Linux /usr (ARM-64)",
    ),
    (
        "2C7357ED-EBD2-46D9-AEC1-23D437EC2BF5",
        "Linux root verity (x86-64)",
    ),
    ("CA7D7CCB-63ED-4C53-861C-1742536059CC", "LUKS"),
    ("7FFEC5C9-2D00-49B7-8941-3EA10A5586B7", "dm-crypt"),
    ("E3C9E316-0B5C-4DB8-817D-F92DF00215AE", "Microsoft reserved"),
    (
        "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7",
        "Microsoft basic data",
    ),
    (
        "5808C8AA-7E8F-42E0-85D2-E1E90434CFB3",
        "Windows dynamic disk metadata",
    ),
    (
        "AF9B60A0-1431-4F62-BC68-3311714A69AD",
        "Windows dynamic disk data",
    ),
    ("DE94BBA4-06D1-4D40-A16A-BFD50179D6AC", "Windows recovery"),
    (
        "E75CAF8F-F680-4CEE-AFA3-B001E56EFC2D",
        "Windows storage spaces",
    ),
    ("48465300-0000-11AA-AA11-00306543ECAC", "Apple HFS+"),
    ("7C3457EF-0000-11AA-AA11-00306543ECAC", "Apple APFS"),
    ("426F6F74-0000-11AA-AA11-00306543ECAC", "Apple boot"),
    ("52637672-7900-11AA-AA11-00306543ECAC", "Apple recovery"),
    (
        "6A898CC3-1DD2-11B2-99A6-080020736631",
        "ZFS (Solaris /usr, Apple ZFS)",
    ),
    ("6A85CF4D-1DD2-11B2-99A6-080020736631", "Solaris root"),
    ("83BD6B9D-7F41-11DC-BE0B-001560B84F0F", "FreeBSD boot"),
    ("516E7CB4-6ECF-11D6-8FF8-00022D09712B", "FreeBSD data"),
    ("516E7CB5-6ECF-11D6-8FF8-00022D09712B", "FreeBSD swap"),
    ("516E7CB6-6ECF-11D6-8FF8-00022D09712B", "FreeBSD UFS"),
    ("516E7CBA-6ECF-11D6-8FF8-00022D09712B", "FreeBSD ZFS"),
    ("824CC7A0-36A8-11E3-890A-952519AD3F61", "OpenBSD data"),
    ("FE3A2A5D-4F32-41A7-B725-ACCC3285A309", "ChromeOS kernel"),
    ("3CB8E202-3B7E-47DD-8A3C-7FF2A13CFCEC", "ChromeOS root"),
    ("2E0A753D-9E48-43B0-8337-B15192CB1B5E", "ChromeOS reserved"),
    ("CAB6E88E-ABF3-4102-A07A-D4BB9BE3C1D3", "ChromeOS firmware"),
    ("AA31E02A-400F-11DB-9590-000C2911D1B8", "VMware VMFS"),
    ("9E1A2D38-C612-4316-AA26-8B49521E5A8B", "PowerPC PReP boot"),
    ("42465331-3BA3-10F1-802A-4861696B7521", "Haiku BFS"),
];
