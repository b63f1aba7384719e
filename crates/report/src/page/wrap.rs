// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Wraps text between words. No word is broken, and a span in backquotes that fits on a line, such
//! as a command, stays on one line.

/// Wraps `text` to `columns`; lines after the first begin with `indent`. Only a word that is longer
/// than a line exceeds the width.
pub(crate) fn wrapped(text: &str, columns: usize, indent: &str) -> Vec<String> {
    let columns = columns.max(20);
    let mut lines = vec![String::new()];
    let mut width = 0;
    for word in words(text, columns - indent.len()) {
        let length = word.chars().count();
        let is_full = width > 0 && width + 1 + length > columns;
        if is_full {
            lines.push(format!("{indent}{word}"));
            width = indent.len() + length;
        } else {
            let last = lines.last_mut().expect("there is a line");
            let gap = usize::from(width > 0);
            last.push_str(&" ".repeat(gap));
            last.push_str(word);
            width += gap + length;
        }
    }
    lines
}

/// Splits a text at spaces, but not inside of a span in backquotes of at most `columns`.
fn words(text: &str, columns: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = end_of_word(rest, columns);
        words.push(&rest[..end]);
        rest = rest[end..].strip_prefix(' ').unwrap_or(&rest[end..]);
    }
    words
}

/// Returns where the first word of `text` ends.
fn end_of_word(text: &str, columns: usize) -> usize {
    let space = text.find(' ').unwrap_or(text.len());
    let Some(open) = text[..space].find('`') else { return space };
    let is_open = text[..space].matches('`').count() % 2 == 1;
    let Some(close) = text[open + 1..].find('`').filter(|_| is_open) else { return space };
    let close = open + 1 + close;
    let end = text[close..].find(' ').map_or(text.len(), |space| close + space);
    if text[..end].chars().count() <= columns { end } else { space }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_between_words_and_lose_nothing() {
        let text = "word ".repeat(40) + &"x".repeat(100) + " end";
        let lines = wrapped(&text, 66, "");
        assert_eq!(lines.join(" "), text);
        let fits = |line: &&String| line.chars().count() <= 66;
        assert_eq!(lines.iter().filter(|line| !fits(line)).count(), 1, "the long word alone");
        assert_eq!(wrapped("short", 66, ""), ["short"]);
        assert_eq!(wrapped("", 66, ""), [""]);
    }

    #[test]
    fn a_span_that_fits_stays_whole() {
        let text = "write (`batch = \"auto\" or 2`), as it may be";
        assert_eq!(
            wrapped(text, 29, "  "),
            ["write", "  (`batch = \"auto\" or 2`), as", "  it may be"]
        );
        let long = format!("say `{}`", "word ".repeat(20).trim_end());
        assert!(wrapped(&long, 30, "").len() > 3, "a longer one is broken between words");
    }
}
