// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rows of decimal numbers in text.
//!
//! A full index has two megabytes of them and is read whenever a drive starts: this reads
//! bytes where they are and allocates nothing but messages.

use tidegate_model::mechanics::MechanicsError;

use crate::mechanical::layout::wrong;

/// The rows of a text, blank ones left out.
pub(super) struct Rows<'a> {
    rest: &'a [u8],
    /// What the text is called.
    name: &'static str,
    line: usize,
}

/// A row, and what of it is not read yet.
#[derive(Clone)]
pub(super) struct Row<'a> {
    rest: &'a [u8],
    name: &'static str,
    line: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(name: &'static str, text: &'a str) -> Self {
        Self { rest: text.as_bytes(), name, line: 0 }
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|&byte| byte == b'\n');
            let (row, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest.get(1..).unwrap_or_default();
            self.line += 1;
            let row = row.trim_ascii();
            if !row.is_empty() {
                return Some(Row { rest: row, name: self.name, line: self.line });
            }
        }
        None
    }
}

impl<'a> Row<'a> {
    /// Whether the row separates nodes.
    pub(super) fn is_separator(&self) -> bool {
        self.rest == b"-"
    }

    /// The next number.
    pub(super) fn number(&mut self, field: &str) -> Result<u64, MechanicsError> {
        let mut number: u64 = 0;
        let mut digits = 0;
        while let Some(digit) = self.rest.get(digits).map(|byte| byte.wrapping_sub(b'0')) {
            if digit > 9 {
                break;
            }
            number = number
                .checked_mul(10)
                .and_then(|number| number.checked_add(digit.into()))
                .ok_or_else(|| self.wrong(field, "a number too large", "write a smaller one"))?;
            digits += 1;
        }
        let is_ended = self.rest.get(digits).is_none_or(u8::is_ascii_whitespace);
        if digits == 0 || !is_ended {
            return Err(self.no_number(field));
        }
        self.rest = self.rest[digits..].trim_ascii_start();
        Ok(number)
    }

    /// The next number, if it is at most `max`.
    pub(super) fn number_up_to(&mut self, field: &str, max: u32) -> Result<u32, MechanicsError> {
        let number = self.number(field)?;
        u32::try_from(number).ok().filter(|&number| number <= max).ok_or_else(|| {
            self.wrong(field, format!("{number} is too large"), format!("write at most {max}"))
        })
    }

    /// The next number without its sign, and whether it has a minus.
    pub(super) fn signed(&mut self, field: &str) -> Result<(u64, bool), MechanicsError> {
        let is_negative = self.rest.first() == Some(&b'-');
        self.rest = &self.rest[usize::from(is_negative)..];
        Ok((self.number(field)?, is_negative))
    }

    /// The next word.
    pub(super) fn word(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_ascii_start();
        word
    }

    /// Nothing may be left of the row.
    pub(super) fn end(&self) -> Result<(), MechanicsError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(wrong(
            self.place(),
            format!("more than expected: `{}`", excerpt(self.rest)),
            "remove it",
        ))
    }

    /// An error about a field of this row.
    pub(super) fn wrong(
        &self,
        field: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> MechanicsError {
        wrong(self.field(field), message, help)
    }

    /// The place of a field of this row.
    pub(super) fn field(&self, field: &str) -> String {
        format!("{}: {field}", self.place())
    }

    fn no_number(&self, field: &str) -> MechanicsError {
        let end = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let message = match &self.rest[..end] {
            b"" => "the row ends too early".to_owned(),
            word => format!("`{}` is no number", excerpt(word)),
        };
        self.wrong(field, message, "write a decimal number")
    }

    fn place(&self) -> String {
        format!("{}: row {}", self.name, self.line)
    }
}

/// Enough of a text to recognise it.
fn excerpt(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(40).collect()
}
