// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Foreign text that is safe to show: names from the kernel, from files and from other programs.

/// Returns a text with `?` in place of each character that [`is_hidden`].
pub fn printable(text: &str) -> String {
    text.chars().map(|letter| if is_hidden(letter) { '?' } else { letter }).collect()
}

/// Returns whether a character is invisible but changes the text that a reader sees: it moves the
/// cursor, ends a line, changes the direction of writing, or makes two different names look the
/// same.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            // The soft hyphen; marks of direction; spaces without width; separators of lines and
            // paragraphs; embeddings, overrides and isolates; and tags.
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_replaced() {
        for (name, shown) in [
            ("camera-1, käse, 摄像头, שלום", "camera-1, käse, 摄像头, שלום"),
            ("a\u{1b}[2J\n\t", "a?[2J??"),
            ("a\u{202e}gpj.exe\u{202c}", "a?gpj.exe?"),
            ("\u{2066}a\u{2069}\u{200f}\u{61c}\u{200b}\u{feff}\u{2028}\u{85}", "?a???????"),
        ] {
            assert_eq!(printable(name), shown);
        }
    }
}
