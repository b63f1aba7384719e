// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Numbers of objects in sentences: `1 request`, `2 requests`.

use std::fmt::Display;

/// Formats a number of objects; `what` names one of them, and its last word gets the plural.
///
/// # Example
/// ```
/// use tidegate_model::count;
///
/// assert_eq!(count(1, "batch"), "1 batch");
/// assert_eq!(count("48,900", "cylinder"), "48,900 cylinders");
/// ```
pub fn count(number: impl Display, what: &str) -> String {
    let number = number.to_string();
    if number == "1" {
        return format!("1 {what}");
    }
    let is_vowel = |c: char| "aeiou".contains(c);
    match what.strip_suffix('y') {
        Some(stem) if !stem.ends_with(is_vowel) => format!("{number} {stem}ies"),
        _ if what.ends_with("ch") || what.ends_with('s') => format!("{number} {what}es"),
        _ => format!("{number} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_object_has_no_plural() {
        for (number, what, text) in [
            (0, "sample", "0 samples"),
            (1, "sample", "1 sample"),
            (11, "sample", "11 samples"),
            (2, "batch", "2 batches"),
            (2, "class", "2 classes"),
            (2, "entry", "2 entries"),
            (2, "delay", "2 delays"),
            (2, "more fault", "2 more faults"),
        ] {
            assert_eq!(count(number, what), text);
        }
    }
}
