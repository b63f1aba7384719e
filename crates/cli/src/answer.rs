// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A command's answer, which scripts get as its exit code.

use std::process::ExitCode;

/// The answer of a command, which scripts get as its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The claim is proven, or no deadline was missed.
    Yes,
    /// The claim is not proven or not applicable, or deadlines were missed.
    No,
    /// A promise of Tidegate did not hold, so the run cannot be trusted.
    Broken,
}

impl Answer {
    /// Returns the answer of a command that tests whether a claim holds.
    pub(crate) const fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Returns the exit code.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Yes => ExitCode::SUCCESS,
            Self::No => ExitCode::from(1),
            Self::Broken => ExitCode::from(3),
        }
    }
}
