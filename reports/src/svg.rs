//! What all pictures share: text that is safe in XML, and short enough for its place.

/// For text and attributes of XML. Control characters, which XML has no way to write, become spaces.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            sign if sign.is_control() => safe.push(' '),
            sign => safe.push(sign),
        }
    }
    safe
}

/// The first letters, and a sign that there are more than `letters`.
pub fn shortened(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}\u{2026}", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_safe_and_short() {
        assert_eq!(escaped("a<b & \"c\"\n"), "a&lt;b &amp; &quot;c&quot; ");
        assert_eq!(shortened("grant \u{e9}t\u{e9}", 7), "grant \u{e9}\u{2026}");
        assert_eq!(shortened("grant", 5), "grant");
    }
}
