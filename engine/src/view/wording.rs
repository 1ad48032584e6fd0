//! Numbers and places in words.

/// A number with its digits in groups of three: "12,345,678".
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// "1 byte", "2,000 bytes".
pub(super) fn count(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// "1 block", "20 blocks".
pub(super) fn blocks(n: u64) -> String {
    count(n, "block")
}

/// "block 12", "blocks 12 to 34 (23)".
pub(super) fn span(start: u64, len: u64) -> String {
    match len {
        0 | 1 => format!("block {start}"),
        _ => format!(
            "blocks {start} to {} ({})",
            start.saturating_add(len - 1),
            grouped(len)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        let text: Vec<String> = [0, 12, 999, 1000, 12_345, 1_234_567].map(grouped).into();
        assert_eq!(text, ["0", "12", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!(count(1, "byte"), "1 byte");
        assert_eq!(span(12, 23), "blocks 12 to 34 (23)");
    }
}
