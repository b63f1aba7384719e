// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A block of a parameter file, with its file: typed access to its parameters.
//!
//! A missing or invalid value is an error that shows the place in the file. If a file has a
//! parameter twice, the last one counts.

use std::fmt::Display;
use std::rc::Rc;

use super::decimal;
use super::error::ImportError;
use super::library::Document;
use super::parse::shortened;
use super::report::{IgnoredParameter, Report};
use super::tree::{Block, List, Parameter, Value};
use super::words::Span;

/// The longest time of any step of a disk, one minute: a longer one must be in another unit.
pub(crate) const TIME_NS_MAX: i128 = 60_000_000_000;

/// A block with its file.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub(crate) document: Rc<Document>,
    pub(crate) block: Rc<Block>,
}

/// The parameters that a model knows: those that it represents, and those that it does not, each
/// with its neutral values (as `0`, `0|1`, or `*` for all).
pub(crate) struct Known<'a> {
    pub(crate) represented: &'a [&'a str],
    pub(crate) neutral: &'a [(&'a str, &'a str)],
}

/// Compares two words, ignoring case: files differ in case.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

impl Section {
    /// Returns the kind of the block, such as `dm_disk`.
    pub(crate) fn kind(&self) -> &str {
        self.block.kind.of(&self.document.text)
    }

    /// Returns the name of the block.
    pub(crate) fn name(&self) -> Option<&str> {
        self.block.name.map(|name| name.of(&self.document.text))
    }

    /// Returns the section of a block in the same file.
    pub(crate) fn inner(&self, block: &Rc<Block>) -> Self {
        Self { document: Rc::clone(&self.document), block: Rc::clone(block) }
    }

    /// Returns the text at a span.
    pub(crate) fn text(&self, span: Span) -> &str {
        span.of(&self.document.text)
    }

    /// Returns the value of a parameter.
    pub(crate) fn find(&self, name: &str) -> Option<&Value> {
        let named = |parameter: &&Parameter| is_same(&parameter.name, name);
        self.block.parameters.iter().rev().find(named).map(|parameter| &parameter.value)
    }

    /// Returns the value of a required parameter.
    pub(crate) fn get(&self, name: &str) -> Result<&Value, ImportError> {
        self.find(name).ok_or_else(|| {
            let message = format!("{} has no `{name}`", self.called());
            self.document.fault(self.block.kind, message, format!("add `{name} = ..` to the block"))
        })
    }

    /// Returns a whole number from 0 to the maximum of its type; `None` if the parameter is absent.
    pub(crate) fn whole<T: TryFrom<i128>>(&self, name: &str) -> Result<Option<T>, ImportError> {
        self.find(name).map(|value| self.whole_of(value, name, 0)).transpose()
    }

    /// Returns the value of a required parameter as a whole number.
    pub(crate) fn whole_required<T: TryFrom<i128>>(&self, name: &str) -> Result<T, ImportError> {
        self.whole_of(self.get(name)?, name, 0)
    }

    /// Returns the value of a parameter times 10^`power`; `None` if the parameter is absent.
    pub(crate) fn scaled(&self, name: &str, power: i32) -> Result<Option<i128>, ImportError> {
        self.find(name).map(|value| self.scaled_of(value, name, power)).transpose()
    }

    /// Converts a value to a number times 10^`power` that fits the type.
    pub(crate) fn whole_of<T: TryFrom<i128>>(
        &self,
        value: &Value,
        name: &str,
        power: i32,
    ) -> Result<T, ImportError> {
        let number = self.scaled_of(value, name, power)?;
        T::try_from(number)
            .map_err(|_| self.refuse(value, name, "a number within the supported range"))
    }

    /// Converts a value to a number times 10^`power`.
    pub(crate) fn scaled_of(
        &self,
        value: &Value,
        name: &str,
        power: i32,
    ) -> Result<i128, ImportError> {
        let number = self.word_of(value).and_then(|word| decimal::scaled(word, power));
        // Sums and products of a few such numbers stay far within 128 bits.
        let number = number.filter(|number| number.unsigned_abs() < 1 << 62);
        number.ok_or_else(|| self.refuse(value, name, "a number"))
    }

    /// Returns the word that is a parameter's value; `None` if the parameter is absent.
    pub(crate) fn word(&self, name: &str) -> Result<Option<&str>, ImportError> {
        let word = |value| self.word_of(value).ok_or_else(|| self.refuse(value, name, "one word"));
        self.find(name).map(word).transpose()
    }

    /// Returns a value's text if the value is a single word.
    pub(crate) fn word_of(&self, value: &Value) -> Option<&str> {
        match value {
            Value::Word(span) => Some(self.text(*span)),
            _ => None,
        }
    }

    /// Returns the list that is a parameter's value; `None` if the parameter is absent.
    pub(crate) fn list(&self, name: &str) -> Result<Option<&List>, ImportError> {
        match self.find(name) {
            None => Ok(None),
            Some(Value::List(list)) => Ok(Some(list)),
            Some(value) => Err(self.refuse(value, name, "a list, as `[ 1, 2 ]`")),
        }
    }

    /// Returns the entries of a parameter's list as whole numbers; none if the parameter is absent.
    pub(crate) fn whole_list<T: TryFrom<i128>>(&self, name: &str) -> Result<Vec<T>, ImportError> {
        let values = self.list(name)?.map_or(&[][..], |list| &list.values);
        values.iter().map(|value| self.whole_of(value, name, 0)).collect()
    }

    /// Returns an error about a parameter's value.
    pub(crate) fn refuse(&self, value: &Value, name: &str, wanted: impl Display) -> ImportError {
        let found = shortened(self.text(value.span()));
        let message = format!("`{name}` of {} cannot be `{found}`", self.called());
        self.document.fault(value.span(), message, format!("write {wanted}"))
    }

    /// Returns the block's name for messages.
    pub(crate) fn called(&self) -> String {
        match self.name() {
            Some(name) => format!("{} {}", self.kind(), shortened(name)),
            None => self.kind().to_owned(),
        }
    }

    /// Reports every parameter that is not represented and has no neutral value.
    pub(crate) fn report_ignored(&self, known: &Known<'_>, report: &mut Report) {
        self.report_ignored_but(known, |_| false, report);
    }

    /// Reports ignored parameters as [`Self::report_ignored`] does, except those without effect in
    /// this block.
    pub(crate) fn report_ignored_but(
        &self,
        known: &Known<'_>,
        is_inert: impl Fn(&str) -> bool,
        report: &mut Report,
    ) {
        for parameter in &self.block.parameters {
            let is_it = |name: &str| is_same(name, &parameter.name);
            if is_inert(&parameter.name) || known.represented.iter().any(|name| is_it(name)) {
                continue;
            }
            let neutral = known.neutral.iter().find(|(name, _)| is_it(name));
            if neutral.is_some_and(|(_, values)| self.is_neutral(&parameter.value, values)) {
                continue;
            }
            let ignored = IgnoredParameter {
                block: self.kind().to_owned(),
                name: shortened(&parameter.name),
                value: self.shown(&parameter.value),
            };
            if !report.ignored.contains(&ignored) {
                report.ignored.push(ignored);
            }
        }
    }

    fn is_neutral(&self, value: &Value, neutral: &str) -> bool {
        if neutral == "*" {
            return true;
        }
        let Some(word) = self.word_of(value) else { return false };
        let number = |text: &str| decimal::scaled(text, 9);
        neutral.split('|').any(|one| {
            is_same(one, word) || number(one).is_some_and(|one| number(word) == Some(one))
        })
    }

    fn shown(&self, value: &Value) -> String {
        match value {
            Value::Word(span) => shortened(self.text(*span)),
            Value::Source(span) => format!("source {}", shortened(self.text(*span))),
            Value::List(list) => format!("a list of {}", list.values.len()),
            Value::Block(block) => format!("a block {}", shortened(self.text(block.kind))),
        }
    }
}
