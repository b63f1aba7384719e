// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The answer that a command gives to scripts through its exit code.

use std::process::ExitCode;

/// The answer of a command; its exit code passes it to scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Proven; no deadline missed.
    Yes,
    /// Not proven, not applicable, or deadlines missed.
    No,
    /// A promise of Tidegate did not hold: the run cannot be trusted.
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
