//! The errors of Linux's calls, by their names and numbers.

macro_rules! errnos {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $words:literal;)*) => {
        /// Why a call failed, as Linux numbers it (`asm-generic/errno-base.h`, `errno.h`).
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
        #[allow(clippy::upper_case_acronyms)]
        pub enum Errno {
            $(#[doc = $words] $name = $number,)*
        }

        impl Errno {
            /// All of them.
            pub const ALL: &'static [Errno] = &[$(Errno::$name),*];

            /// The name that C programs use.
            pub fn name(self) -> &'static str {
                match self { $(Errno::$name => stringify!($name),)* }
            }

            /// What `strerror` says, for a person.
            pub fn words(self) -> &'static str {
                match self { $(Errno::$name => $words,)* }
            }
        }
    };
}

errnos! {
    EPERM = 1, "Operation not permitted";
    ENOENT = 2, "No such file or directory";
    EINTR = 4, "Interrupted system call";
    EIO = 5, "Input/output error";
    ENXIO = 6, "No such device or address";
    E2BIG = 7, "Argument list too long";
    EBADF = 9, "Bad file descriptor";
    EAGAIN = 11, "Resource temporarily unavailable";
    ENOMEM = 12, "Cannot allocate memory";
    EACCES = 13, "Permission denied";
    EFAULT = 14, "Bad address";
    EBUSY = 16, "Device or resource busy";
    EEXIST = 17, "File exists";
    EXDEV = 18, "Invalid cross-device link";
    ENODEV = 19, "No such device";
    ENOTDIR = 20, "Not a directory";
    EISDIR = 21, "Is a directory";
    EINVAL = 22, "Invalid argument";
    ENFILE = 23, "Too many open files in system";
    EMFILE = 24, "Too many open files";
    ETXTBSY = 26, "Text file busy";
    EFBIG = 27, "File too large";
    ENOSPC = 28, "No space left on device";
    ESPIPE = 29, "Illegal seek";
    EROFS = 30, "Read-only file system";
    EMLINK = 31, "Too many links";
    ERANGE = 34, "Numerical result out of range";
    ENAMETOOLONG = 36, "File name too long";
    ENOTEMPTY = 39, "Directory not empty";
    ELOOP = 40, "Too many levels of symbolic links";
    ENODATA = 61, "No data available";
    EOVERFLOW = 75, "Value too large for defined data type";
    EUCLEAN = 117, "Structure needs cleaning";
    EDQUOT = 122, "Disk quota exceeded";
    EOPNOTSUPP = 95, "Operation not supported";
}

impl Errno {
    /// What ext4 calls EFSCORRUPTED: the disk is not what it should be.
    pub const EFSCORRUPTED: Errno = Errno::EUCLEAN;

    /// What ext4 calls EFSBADCRC, a checksum that does not hold: EBADMSG has no other use
    /// here, so it is told as damage.
    pub const EFSBADCRC: Errno = Errno::EUCLEAN;

    /// Its number.
    pub fn number(self) -> i32 {
        self as i32
    }
}

impl std::fmt::Display for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name(), self.words())
    }
}

impl std::error::Error for Errno {}

/// What a call gives.
pub type Result<T> = std::result::Result<T, Errno>;
