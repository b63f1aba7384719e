// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads rows of decimal numbers from text.
//!
//! A full index has two megabytes of rows and is read whenever a drive starts, so this reader works
//! in place and allocates only error messages.

use tidegate_model::mechanics::MechanicsError;

use crate::mechanical::wrong::wrong;

/// The rows of a text, without blank ones.
pub(super) struct Rows<'a> {
    rest: &'a [u8],
    /// The name of the text.
    name: &'static str,
    line: usize,
}

/// A row, and the part of it that is not read yet.
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
    /// Returns whether the row separates nodes.
    pub(super) fn is_separator(&self) -> bool {
        self.rest == b"-"
    }

    /// Reads the next number.
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

    /// Reads the next number, which must be at most `max`.
    pub(super) fn number_up_to(&mut self, field: &str, max: u32) -> Result<u32, MechanicsError> {
        let number = self.number(field)?;
        u32::try_from(number).ok().filter(|&number| number <= max).ok_or_else(|| {
            self.wrong(field, format!("{number} is too large"), format!("write at most {max}"))
        })
    }

    /// Reads the next number: its absolute value, and whether it is negative.
    pub(super) fn signed(&mut self, field: &str) -> Result<(u64, bool), MechanicsError> {
        let is_negative = self.rest.first() == Some(&b'-');
        self.rest = &self.rest[usize::from(is_negative)..];
        Ok((self.number(field)?, is_negative))
    }

    /// Reads the next word.
    pub(super) fn word(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_ascii_start();
        word
    }

    /// Checks that the row is read completely.
    pub(super) fn end(&self) -> Result<(), MechanicsError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(wrong(self.place(), format!("unexpected text: `{}`", excerpt(self.rest)), "remove it"))
    }

    /// Returns an error about a field of this row.
    pub(super) fn wrong(
        &self,
        field: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> MechanicsError {
        wrong(self.field(field), message, help)
    }

    /// Returns the place of a field of this row, for errors.
    pub(super) fn field(&self, field: &str) -> String {
        format!("{}: {field}", self.place())
    }

    fn no_number(&self, field: &str) -> MechanicsError {
        let end = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let message = match &self.rest[..end] {
            b"" => "the row ends too early".to_owned(),
            word => format!("`{}` is not a number", excerpt(word)),
        };
        self.wrong(field, message, "write a decimal number")
    }

    fn place(&self) -> String {
        format!("{}: row {}", self.name, self.line)
    }
}

/// Returns enough of a text to recognise it.
fn excerpt(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(40).collect()
}
