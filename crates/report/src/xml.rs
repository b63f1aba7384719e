// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Escapes text for pages and plots.

use tidegate_model::is_hidden;

/// Escapes a text for HTML and SVG, in elements and in attributes. A line end becomes a space, and
/// every other hidden character becomes `?`.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push(' '),
            letter => safe.push(if is_hidden(letter) { '?' } else { letter }),
        }
    }
    safe
}
