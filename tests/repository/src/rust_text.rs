// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sentences in Rust files: those of comments, with their lines joined, and of string literals.

use crate::files::line_at;

/// A passage of text for human readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The passage's first line, counted from 1.
    pub line: usize,
    /// The passage's text, on one line.
    pub text: String,
}

/// Returns the paragraphs of a file's comments, and its string literals that contain words.
pub fn passages(code: &str) -> Vec<Passage> {
    let mut found = Vec::new();
    let mut comment: Option<(Passage, usize)> = None;
    for (start, token) in tokens(code) {
        let line = line_at(code, start);
        match token {
            Token::Comment("") => found.extend(finished(&mut comment)),
            Token::Comment(text) => {
                let is_next = comment.as_ref().is_some_and(|(_, last)| last + 1 == line);
                if !is_next || text.starts_with(['-', '*', '#', '|']) {
                    found.extend(finished(&mut comment));
                }
                let (passage, last) =
                    comment.get_or_insert((Passage { line, text: String::new() }, line));
                passage.text.push_str(text);
                passage.text.push(' ');
                *last = line;
            }
            Token::Text(text) if text.trim().contains(' ') => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                found.extend(finished(&mut comment));
                found.push(Passage { line, text });
            }
            Token::Text(_) => {}
        }
    }
    found.extend(finished(&mut comment));
    found
}

fn finished(comment: &mut Option<(Passage, usize)>) -> Option<Passage> {
    comment.take().map(|(passage, _)| Passage { text: passage.text.trim().to_owned(), ..passage })
}

/// A part of a file that contains words.
enum Token<'a> {
    /// A line of a comment without its marker.
    Comment(&'a str),
    /// The contents of a string literal, with escapes as written.
    Text(&'a str),
}

/// Returns the comments and the string literals of a file, each with its offset.
fn tokens(code: &str) -> Vec<(usize, Token<'_>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        let (length, token) = if rest.starts_with("//") {
            let line = rest.lines().next().unwrap_or_default();
            (line.len(), Some(Token::Comment(line.trim_start_matches(['/', '!']).trim())))
        } else if let Some((length, inside)) = string(rest) {
            (length, Some(Token::Text(inside)))
        } else {
            (plain_length(rest), None)
        };
        found.extend(token.map(|token| (at, token)));
        at += length;
    }
    found
}

/// Returns the length and the contents of a string literal at the beginning of `rest`.
fn string(rest: &str) -> Option<(usize, &str)> {
    if let Some(raw) = rest.strip_prefix('r') {
        let quoted = raw.trim_start_matches('#');
        let end = format!("\"{}", "#".repeat(raw.len() - quoted.len()));
        let inside = quoted.strip_prefix('"')?.split(&end).next()?;
        return Some((1 + 2 * end.len() + inside.len(), inside));
    }
    let inside = rest.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.find(|each: char| {
        let is_end = each == '"' && !is_escaped;
        is_escaped = each == '\\' && !is_escaped;
        is_end
    })?;
    Some((end + 2, &inside[..end]))
}

/// Returns the length of the next piece of code that is neither a comment nor a string: a character
/// literal, a word, or one character.
fn plain_length(rest: &str) -> usize {
    if let Some(quoted) =
        ["'\"'", "'\\\"'", "'/'", "'\\''"].iter().find(|each| rest.starts_with(*each))
    {
        return quoted.len();
    }
    let word = rest.find(|each: char| !each.is_alphanumeric() && each != '_').unwrap_or(rest.len());
    let first = rest.chars().next().map_or(1, char::len_utf8);
    word.max(first)
}
