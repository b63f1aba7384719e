// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Wraps text between words. A span in backquotes that fits on a line stays on one line; a longer
//! command continues after a backslash, so that it works when it is pasted.

/// The start of a span in backquotes that is a command.
const COMMAND: &str = "`tidegate ";

/// The end of a line whose command continues on the next line.
const GOES_ON: &str = " \\";

/// A word, and whether the gap before it is inside a command.
#[derive(Debug, Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    is_in_command: bool,
}

/// Wraps `text` to `columns`; lines after the first begin with `indent`. Only a word that is longer
/// than a line exceeds the width.
pub fn wrapped(text: &str, columns: usize, indent: &str) -> Vec<String> {
    let columns = columns.max(20);
    lines_of(&words(text, columns - indent.len()), columns, indent)
}

/// Wraps a command as [`wrapped`] does, with a backslash at the end of each line except the last.
pub(crate) fn wrapped_command(command: &str, columns: usize, indent: &str) -> Vec<String> {
    lines_of(&words_of_command(command), columns.max(20), indent)
}

fn lines_of(words: &[Word<'_>], columns: usize, indent: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut width = 0;
    for (index, word) in words.iter().enumerate() {
        let length = word.text.chars().count();
        let goes_on = words.get(index + 1).is_some_and(|next| next.is_in_command);
        let room = columns.saturating_sub(if goes_on { GOES_ON.len() } else { 0 });
        let last = lines.last_mut().expect("there is a line");
        if width > 0 && width + 1 + length > room {
            if word.is_in_command {
                last.push_str(GOES_ON);
            }
            lines.push(format!("{indent}{}", word.text));
            width = indent.len() + length;
        } else {
            let gap = usize::from(width > 0);
            last.push_str(&" ".repeat(gap));
            last.push_str(word.text);
            width += gap + length;
        }
    }
    lines
}

/// Splits a text at spaces, but not inside a span in backquotes that has at most `columns`
/// characters. A longer list without spaces is split after its commas.
fn words(text: &str, columns: usize) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = end_of_word(rest, columns);
        let word = &rest[..end];
        match end_of_span(rest).filter(|&end| end > columns && is_command(rest)) {
            Some(end) => {
                words.extend(words_of_command(&rest[..end]));
                rest = &rest[end..];
            }
            None if word.len() > columns && !word.contains('`') => {
                let parts = word.split_inclusive(',');
                words.extend(parts.map(|text| Word { text, is_in_command: false }));
                rest = &rest[end..];
            }
            None => {
                words.push(Word { text: word, is_in_command: false });
                rest = &rest[end..];
            }
        }
        rest = rest.strip_prefix(' ').unwrap_or(rest);
    }
    words
}

fn is_command(text: &str) -> bool {
    text.trim_start_matches('(').starts_with(COMMAND)
}

/// Splits a command at the spaces between its words; spaces inside quotes do not separate words.
fn words_of_command(command: &str) -> Vec<Word<'_>> {
    let mut quote = None;
    let is_gap = |c: char| {
        match quote {
            None if c == '\'' || c == '"' => quote = Some(c),
            Some(open) if c == open => quote = None,
            _ => (),
        }
        c == ' ' && quote.is_none()
    };
    let words = command.split(is_gap).enumerate();
    words.map(|(index, text)| Word { text, is_in_command: index > 0 }).collect()
}

/// Returns the position at which the first word of `text` ends.
fn end_of_word(text: &str, columns: usize) -> usize {
    let space = text.find(' ').unwrap_or(text.len());
    end_of_span(text).filter(|&end| text[..end].chars().count() <= columns).unwrap_or(space)
}

/// Returns the end of the word in which a span in backquotes ends, if such a span begins in the
/// first word.
fn end_of_span(text: &str) -> Option<usize> {
    let space = text.find(' ').unwrap_or(text.len());
    let open = text[..space].find('`')?;
    let is_open = text[..space].matches('`').count() % 2 == 1;
    let close = open + 1 + text[open + 1..].find('`').filter(|_| is_open)?;
    Some(text[close..].find(' ').map_or(text.len(), |space| close + space))
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
        assert_eq!(wrapped("one,two,three,four,five", 20, ""), ["one, two, three,", "four, five"]);
    }

    /// A shell joins the wrapped lines of a command to the original command.
    #[test]
    fn a_command_of_several_lines_works_when_it_is_pasted() {
        let command = "tidegate profile 'my  disk.img' --only batch --op read,write -o x.toml";
        for columns in 20..90 {
            for lines in [
                wrapped_command(command, columns, "  "),
                wrapped(&format!("`{command}`"), columns, "  "),
            ] {
                let pasted = lines.join("\n").replace("\\\n  ", "");
                assert_eq!(pasted.trim_matches('`'), command);
                assert!(lines.iter().all(|line| line.len() <= columns), "{columns}: {lines:?}");
            }
        }
    }
}
