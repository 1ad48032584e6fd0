use super::{Found, escape, unescape};
use crate::disk::ReadAt;
use crate::ext4::Error;
use crate::ext4::read::Fs;
use crate::units::{BlockNr, GroupNr, InodeNr};

/// Why a search finds nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SearchError {
    /// The text is none of what can be searched for.
    #[error(
        "\"{0}\" is no path, inode, block or group: write a path from /, or a number, or \
         \"inode 12\", \"<12>\", \"block 34\", \"group 5\""
    )]
    NotUnderstood(String),
    /// A number that is neither an inode nor a block.
    #[error("{0} is neither an inode nor a block: inodes go up to {1}, blocks up to {2}")]
    OutOfRange(u64, u32, u64),
    /// What it names is not there.
    #[error(transparent)]
    Fs(#[from] Error),
}

/// Longest text that is repeated in an error, characters.
const MOST_ECHOED: usize = 80;

/// Finds what a text names: a path that starts with `/` (with the escapes that names are
/// shown with; a symbolic link at its end is itself what is found), "inode N" or "<N>",
/// "block N", "group N", or a number, which is both an inode and a block where both exist.
pub fn search<R: ReadAt>(fs: &Fs<R>, text: &str) -> Result<Vec<Found>, SearchError> {
    let text = text.trim();
    if text.starts_with('/') {
        let inode = fs.resolve_link(&unescape(text))?;
        let path = Some(escape(&unescape(text)));
        return Ok(vec![Found::Inode {
            nr: inode.nr.0,
            path,
        }]);
    }
    let geo = fs.geometry();
    let unknown =
        || SearchError::NotUnderstood(escape(&text.bytes().take(MOST_ECHOED).collect::<Vec<_>>()));
    let (word, digits) = split(text).ok_or_else(unknown)?;
    let n = number(digits).ok_or_else(unknown)?;
    let narrow = |what: &'static str, first: u64, last: u64| {
        u32::try_from(n).map_err(|_| Error::NoSuch {
            what,
            number: n,
            first,
            last,
        })
    };
    match word {
        "inode" | "ino" | "i" => {
            let nr = narrow("inode", 1, geo.inodes.into())?;
            geo.check_inode(InodeNr(nr))?;
            Ok(vec![Found::Inode { nr, path: None }])
        }
        "block" | "b" => {
            geo.check_block(BlockNr(n))?;
            Ok(vec![Found::Block { nr: n }])
        }
        "group" | "g" => {
            let nr = narrow("group", 0, u64::from(geo.groups.saturating_sub(1)))?;
            geo.check_group(GroupNr(nr))?;
            Ok(vec![Found::Group { nr }])
        }
        "" => both(fs, n),
        _ => Err(unknown()),
    }
}

fn both<R: ReadAt>(fs: &Fs<R>, n: u64) -> Result<Vec<Found>, SearchError> {
    let geo = fs.geometry();
    let mut found = Vec::new();
    if let Ok(nr) = u32::try_from(n)
        && geo.check_inode(InodeNr(nr)).is_ok()
    {
        found.push(Found::Inode { nr, path: None });
    }
    if geo.check_block(BlockNr(n)).is_ok() {
        found.push(Found::Block { nr: n });
    }
    if found.is_empty() {
        return Err(SearchError::OutOfRange(
            n,
            geo.inodes,
            geo.blocks.saturating_sub(1),
        ));
    }
    Ok(found)
}

/// Splits "inode 12", "inode12", "<12>" or "12" into word and digits.
fn split(text: &str) -> Option<(&'static str, &str)> {
    if let Some(inside) = text.strip_prefix('<') {
        return Some(("inode", inside.strip_suffix('>')?.trim()));
    }
    const WORDS: [&str; 7] = ["inode", "block", "group", "ino", "i", "b", "g"];
    for word in WORDS {
        let Some((head, rest)) = text.split_at_checked(word.len()) else {
            continue;
        };
        if head.eq_ignore_ascii_case(word) {
            return Some((word, rest.trim_start()));
        }
    }
    Some(("", text))
}

/// A number in decimal, with separators for thousands, or in hexadecimal after `0x`.
fn number(digits: &str) -> Option<u64> {
    if let Some(hex) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        return u64::from_str_radix(hex, 16)
            .ok()
            .filter(|_| !hex.starts_with('+'));
    }
    let plain: String = digits.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    if plain.starts_with('+') {
        None
    } else {
        plain.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{number, split};

    #[test]
    fn words_and_numbers_are_told_apart() {
        assert_eq!(split("<12>"), Some(("inode", "12")));
        assert_eq!(split("<12"), None);
        assert_eq!(split("Block  34"), Some(("block", "34")));
        assert_eq!(split("34"), Some(("", "34")));
        assert_eq!(split("grün"), Some(("g", "rün")));
        assert_eq!(number("1,234"), Some(1234));
        assert_eq!(number("0xff"), Some(255));
        assert_eq!(number("rün"), None);
        assert_eq!(number("+1"), None);
        assert_eq!(number(""), None);
        assert_eq!(number("99999999999999999999999"), None);
    }
}
