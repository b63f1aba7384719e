// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a command answers to scripts.

use std::process::ExitCode;

/// What a command answers, as its exit code tells scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Proven; no deadline missed.
    Yes,
    /// Not proven, not applicable, or deadlines missed.
    No,
    /// A promise of ours did not hold: the run cannot be trusted.
    Broken,
}

impl Answer {
    /// Returns the answer of a command that asks whether something holds.
    pub(crate) const fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Returns the exit code that scripts see.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Yes => ExitCode::SUCCESS,
            Self::No => ExitCode::from(1),
            Self::Broken => ExitCode::from(3),
        }
    }
}
