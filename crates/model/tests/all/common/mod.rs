// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The fault for which a file is refused.

use tidegate_model::FileError;

/// The reason why a text was refused.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) message: String,
    /// The text that the message points at.
    pub(crate) place: String,
    /// The suggested remedy; empty if the fault suggests none.
    pub(crate) help: String,
}

impl Fault {
    /// Returns the fault for which `read` refuses the text.
    #[track_caller]
    pub(crate) fn of<T>(text: &str, read: impl FnOnce(&str) -> Result<T, FileError>) -> Self {
        let Err(FileError { message, span, help }) = read(text) else {
            panic!("this must be refused:\n{text}")
        };
        Self { message, place: text[span].to_owned(), help: help.unwrap_or_default() }
    }

    /// Checks that the fault's message contains `message`, its advice contains `help`, and that it
    /// points at `place`.
    #[track_caller]
    pub(crate) fn says(&self, message: &str, place: &str, help: &str) {
        assert!(self.message.contains(message), "{message}: {self:?}");
        assert_eq!(self.place, place, "{self:?}");
        assert!(self.help.contains(help), "{help}: {self:?}");
    }
}
