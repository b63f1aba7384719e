// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Splits a parameter file into words and punctuation marks, each with its place.
//!
//! A word is the text between blanks and marks: a name, number or file name. A `#` at the
//! beginning of a word begins a comment, which continues to the end of the line.

use std::ops::Range;

/// A place in a text of at most 4 GiB, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Returns the place from the start of one word to the end of another.
    pub(crate) fn to(self, last: Self) -> Self {
        Self { start: self.start, end: last.end }
    }

    /// Returns the place as a range of bytes.
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the text at this place.
    pub(crate) fn of(self, text: &str) -> &str {
        &text[self.range()]
    }
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name, a number, a file name.
    Word,
    /// `{`
    BlockBegin,
    /// `}`
    BlockEnd,
    /// `[`
    ListBegin,
    /// `]`
    ListEnd,
    /// `=`
    Equal,
    /// `,` or `;`
    Comma,
    /// The end of the text.
    End,
}

/// A word or a punctuation mark, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// The tokens of a text in order; after the end, [`TokenKind::End`] repeatedly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    /// Splits `text` into tokens; a text of more than 4 GiB has none.
    pub(crate) fn new(text: &'a str) -> Self {
        let text = if u32::try_from(text.len()).is_ok() { text } else { "" };
        // A byte-order mark does not belong to the first word.
        Self { text, at: text.len() - text.trim_start_matches('\u{feff}').len() }
    }

    /// Returns the next token.
    pub(crate) fn next(&mut self) -> Token {
        self.skip_blanks();
        let start = self.at;
        let kind = self.kind_here();
        match kind {
            TokenKind::End => (),
            TokenKind::Word => self.at += self.word_length(),
            _ => self.at += 1,
        }
        Token { kind, span: span(start, self.at) }
    }

    fn kind_here(&self) -> TokenKind {
        match self.rest().first() {
            None => TokenKind::End,
            Some(b'{') => TokenKind::BlockBegin,
            Some(b'}') => TokenKind::BlockEnd,
            Some(b'[') => TokenKind::ListBegin,
            Some(b']') => TokenKind::ListEnd,
            Some(b'=') => TokenKind::Equal,
            Some(b',' | b';') => TokenKind::Comma,
            Some(_) => TokenKind::Word,
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn skip_blanks(&mut self) {
        while let Some(&byte) = self.rest().first() {
            if byte == b'#' {
                self.at += self.length_until(|byte| byte == b'\n' || byte == b'\r');
            } else if is_blank(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    fn word_length(&self) -> usize {
        self.length_until(|byte| is_blank(byte) || b"{}[]=,;".contains(&byte))
    }

    fn length_until(&self, is_end: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest();
        rest.iter().position(|&byte| is_end(byte)).unwrap_or(rest.len())
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn span(start: usize, end: usize) -> Span {
    let narrow = |at: usize| u32::try_from(at).expect("a text of at most 4 GiB");
    Span { start: narrow(start), end: narrow(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Words::new(text);
        std::iter::from_fn(|| Some(words.next()).filter(|token| token.kind != TokenKind::End))
            .map(|token| token.span.of(text))
            .collect()
    }

    #[test]
    fn blanks_signs_and_comments_separate_words() {
        let text = "Time scale=1.0,# of { all }\n[a#b;-2]\r\n\u{b5}s # end";
        let expected = ["Time", "scale", "=", "1.0", ",", "[", "a#b", ";", "-2", "]", "\u{b5}s"];
        assert_eq!(words(text), expected);
    }

    #[test]
    fn the_end_comes_again_and_again() {
        let mut words = Words::new("  # nothing");
        assert_eq!(words.next().kind, TokenKind::End);
        assert_eq!(words.next().kind, TokenKind::End);
    }
}
