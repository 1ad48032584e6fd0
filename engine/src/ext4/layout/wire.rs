//! How on-disk structures are declared: each field once, with its offset, type and
//! meaning; accessors and the table that the hex view shows come from the same line.

use serde::{Deserialize, Serialize};

/// A value of fixed size in an on-disk structure.
pub trait Wire: Sized + Default {
    /// Bytes on disk.
    const SIZE: usize;
    /// Decodes the value at the start of `bytes`, which hold at least [`Wire::SIZE`].
    fn decode(bytes: &[u8], order: Order) -> Self;
    /// Encodes the value at the start of `bytes`, which hold at least [`Wire::SIZE`].
    fn encode(&self, bytes: &mut [u8], order: Order);
}

/// Byte order of a structure: ext4's are little-endian, jbd2's big-endian.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

macro_rules! wire_int {
    ($($int:ty),*) => {$(
        impl Wire for $int {
            const SIZE: usize = size_of::<$int>();

            #[inline]
            fn decode(bytes: &[u8], order: Order) -> Self {
                let mut raw = [0; size_of::<$int>()];
                raw.copy_from_slice(&bytes[..size_of::<$int>()]);
                match order {
                    Order::Little => <$int>::from_le_bytes(raw),
                    Order::Big => <$int>::from_be_bytes(raw),
                }
            }

            #[inline]
            fn encode(&self, bytes: &mut [u8], order: Order) {
                let raw = match order {
                    Order::Little => self.to_le_bytes(),
                    Order::Big => self.to_be_bytes(),
                };
                bytes[..raw.len()].copy_from_slice(&raw);
            }
        }
    )*};
}

wire_int!(u8, u16, u32, u64);

/// Raw bytes of a field that is not a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bytes<const N: usize>(pub [u8; N]);

impl<const N: usize> Default for Bytes<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Wire for Bytes<N> {
    const SIZE: usize = N;

    fn decode(bytes: &[u8], _: Order) -> Self {
        let mut raw = [0; N];
        raw.copy_from_slice(&bytes[..N]);
        Self(raw)
    }

    fn encode(&self, bytes: &mut [u8], _: Order) {
        bytes[..N].copy_from_slice(&self.0);
    }
}

/// Reads a field; one that the structure is too short to hold reads as zero, which
/// is what ext4 means by a short descriptor or inode.
#[inline]
pub fn get<T: Wire>(bytes: &[u8], offset: usize, order: Order) -> T {
    match bytes.get(offset..) {
        Some(rest) if rest.len() >= T::SIZE => T::decode(rest, order),
        _ => T::default(),
    }
}

/// Writes a field; `false`, with nothing written, when the structure is too short to
/// hold it.
#[inline]
pub fn set<T: Wire>(bytes: &mut [u8], offset: usize, value: &T, order: Order) -> bool {
    match bytes.get_mut(offset..) {
        Some(rest) if rest.len() >= T::SIZE => {
            value.encode(rest, order);
            true
        }
        _ => false,
    }
}

/// How a field is best shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Shown {
    /// A decimal number.
    Number,
    /// A number whose bits or digits matter: flags, magics, checksums.
    Hex,
    /// Seconds since 1970, UTC.
    Time,
    /// A block number of the filesystem.
    Block,
    /// An inode number.
    Inode,
    /// Text, ended by a zero byte where shorter.
    Text,
    /// A UUID.
    Uuid,
    /// Bytes without a reading of their own.
    Raw,
}

/// One field of an on-disk structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Field {
    /// The name that ext4's or jbd2's documentation uses.
    pub name: &'static str,
    /// Bytes from the start of the structure.
    pub offset: u32,
    /// Bytes.
    pub len: u32,
    /// How it is best shown.
    pub shown: Shown,
    /// What it means, in a phrase.
    pub help: &'static str,
}

macro_rules! on_disk {
    (
        $(#[$meta:meta])*
        $name:ident[$size:expr] $order:ident {
            $( $offset:literal $field:ident : $ty:ty, $shown:ident, $help:literal; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name<T>(pub T);

        impl $name<()> {
            /// Size on disk, bytes (the largest, where it varies).
            pub const SIZE: usize = $size;
            /// Every field, in the order of offsets.
            pub const FIELDS: &'static [crate::ext4::layout::Field] = &[
                $(crate::ext4::layout::Field {
                    name: stringify!($field),
                    offset: $offset,
                    len: <$ty as crate::ext4::layout::Wire>::SIZE as u32,
                    shown: crate::ext4::layout::Shown::$shown,
                    help: $help,
                },)*
            ];
        }

        impl<T: AsRef<[u8]>> $name<T> {
            $(
                #[doc = $help]
                pub fn $field(&self) -> $ty {
                    crate::ext4::layout::wire::get(
                        self.0.as_ref(), $offset, crate::ext4::layout::Order::$order)
                }
            )*
        }

        pastey::paste! {
            impl<T: AsRef<[u8]> + AsMut<[u8]>> $name<T> {
                $(
                    #[doc = "Sets: " $help]
                    pub fn [<set_ $field>](&mut self, value: $ty) {
                        let fits = crate::ext4::layout::wire::set(
                            self.0.as_mut(), $offset, &value, crate::ext4::layout::Order::$order);
                        debug_assert!(fits, concat!(stringify!($field), " lies past the structure's end"));
                    }
                )*
            }
        }
    };
}
pub(crate) use on_disk;
