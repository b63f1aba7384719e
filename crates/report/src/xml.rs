// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Escapes text for pages and plots.

/// Escapes a text for HTML and SVG, in elements and in attributes; a control character becomes a
/// space.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter if letter.is_control() => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}
