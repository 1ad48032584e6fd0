//! Share links: a scenario in the fragment of the page's address.
//!
//! `lab=1.TEXT` and, with `&` between, `at=`, `view=`, `sel=`. TEXT is the scenario's text,
//! deflated (RFC 1951), as base64url without padding (RFC 4648). Nothing is stored on any
//! server.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::write::{DeflateDecoder, DeflateEncoder};
use std::io::Write;

/// The version of the links that are made here.
const VERSION: &str = "1";
/// Longest fragment, bytes: what chat programs and mail still pass on whole.
pub const MAX_LINK: usize = 16 << 10;
/// Longest text that a link may unfold to, bytes.
const MAX_TEXT: usize = super::file::MAX_TEXT;
/// Longest of the page's own fields, bytes.
const MAX_FIELD: usize = 1024;

/// What a link says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Link {
    /// The scenario's text.
    pub text: String,
    /// The event to open at.
    pub at: Option<u64>,
    /// Which pictures are shown: the page's own words.
    pub view: Option<String>,
    /// What is chosen: the page's own words.
    pub selection: Option<String>,
}

/// Why there is no link, or none that can be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LinkError {
    /// The text does not fit.
    #[error(
        "the scenario is too long for a link: it would take {0} bytes, and {MAX_LINK} is the most; send the file instead"
    )]
    TooLong(usize),
    /// Not one of ours.
    #[error("this is no link to a scenario: it has no `lab=` in it")]
    NoScenario,
    /// From a later time.
    #[error("the link is of version {0}; version {VERSION} is what is known here")]
    Version(String),
    /// Cut short or changed on its way.
    #[error("the link is damaged: {0}")]
    Damaged(&'static str),
    /// It unfolds to too much.
    #[error("the link unfolds to more than {MAX_TEXT} bytes, which is the most")]
    Bomb,
}

/// The fragment of a link, without its `#`.
pub fn encode(link: &Link) -> Result<String, LinkError> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    let _ = deflate.write_all(link.text.as_bytes());
    let packed = deflate.finish().unwrap_or_default();
    let mut out = format!("lab={VERSION}.{}", URL_SAFE_NO_PAD.encode(packed));
    if let Some(at) = link.at {
        out.push_str(&format!("&at={at}"));
    }
    for (name, value) in [("view", &link.view), ("sel", &link.selection)] {
        if let Some(value) = value {
            out.push_str(&format!("&{name}={}", escape(value)));
        }
    }
    if out.len() > MAX_LINK {
        return Err(LinkError::TooLong(out.len()));
    }
    Ok(out)
}

/// What a fragment says; all before its `#` is passed over.
pub fn decode(fragment: &str) -> Result<Link, LinkError> {
    let fragment = fragment
        .rsplit_once('#')
        .map_or(fragment, |(_, f)| f)
        .trim();
    if fragment.len() > 4 * MAX_LINK {
        return Err(LinkError::Damaged("it is far too long"));
    }
    let field = |name: &str| {
        let all = fragment.split('&').filter_map(|f| f.split_once('='));
        all.clone().find(|(n, _)| *n == name).map(|(_, v)| v)
    };
    let packed = field("lab").ok_or(LinkError::NoScenario)?;
    let (version, packed) = packed
        .split_once('.')
        .ok_or(LinkError::Damaged("its version is missing"))?;
    if version != VERSION {
        return Err(LinkError::Version(version.chars().take(20).collect()));
    }
    let packed = URL_SAFE_NO_PAD.decode(packed).map_err(|_| {
        LinkError::Damaged("a character is not of the alphabet, or some are missing")
    })?;
    let text = |name| field(name).map(unescape);
    Ok(Link {
        text: inflate(&packed)?,
        at: field("at").and_then(|n| n.parse().ok()),
        view: text("view"),
        selection: text("sel"),
    })
}

/// A sink that takes so much and no more.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_TEXT {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn inflate(packed: &[u8]) -> Result<String, LinkError> {
    let mut inflate = DeflateDecoder::new(Bounded(Vec::new()));
    let done = inflate
        .write_all(packed)
        .and_then(|()| inflate.try_finish());
    match done {
        Err(e) if e.kind() == std::io::ErrorKind::FileTooLarge => return Err(LinkError::Bomb),
        Err(_) => return Err(LinkError::Damaged("what is in it does not unfold")),
        Ok(()) => {}
    }
    let bytes = std::mem::take(&mut inflate.get_mut().0);
    String::from_utf8(bytes).map_err(|_| LinkError::Damaged("what is in it is no text"))
}

/// Percent-encodes what an address does not take as it is (RFC 3986).
fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes().take(MAX_FIELD) {
        if byte.is_ascii_alphanumeric() || b"-_.~,:/".contains(&byte) {
            out.push(byte.into());
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn unescape(text: &str) -> String {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() && out.len() < MAX_FIELD {
        let hex = bytes
            .get(i + 1..i + 3)
            .and_then(|h| std::str::from_utf8(h).ok());
        match hex
            .filter(|_| bytes[i] == b'%')
            .and_then(|h| u8::from_str_radix(h, 16).ok())
        {
            Some(byte) => {
                out.push(byte);
                i += 3;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
