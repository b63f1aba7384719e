// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The amount and the form of a command's output; all commands share these options.

use clap::Args;

use crate::show::Form;

/// How much of the result is printed, and in which form.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormArguments {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the first line alone.
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

impl FormArguments {
    /// Returns whether the whole text is printed, not JSON or the first line alone.
    pub(crate) const fn is_full(self) -> bool {
        !self.json && !self.quiet
    }
}

impl From<FormArguments> for Form {
    fn from(arguments: FormArguments) -> Self {
        Self { is_json: arguments.json, is_quiet: arguments.quiet }
    }
}
