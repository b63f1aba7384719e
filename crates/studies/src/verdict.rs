// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The verdicts on published facts, and on our own claims.

use serde::Serialize;

/// The verdict on one published fact, or on one claim of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Our value agrees to the last printed digit, or the ranking holds.
    Reproduced,
    /// Our value is within the stated tolerance.
    WithinTolerance,
    /// Our value differs, and the study states the reason.
    Differs,
    /// The source cannot be right, and our value equals the corrected one.
    PrintIsWrong,
    /// The source measured something that no simulation here models.
    NotComparable,
    /// The source gives no number.
    PictureOnly,
    /// Our value differs, and the study says that the reason is unknown and what was tried.
    Unexplained,
    /// Our value differs although the study does not say so, or the study's runs do not confirm its
    /// reason.
    NotAsStated,
    /// The study says that our value differs, but it does not.
    Stale,
    /// A claim of ours holds.
    Holds,
    /// A claim of ours does not hold.
    Refuted,
    /// The expression has no value of the right type.
    Faulty,
    /// A point is missing, or the fact needs a full run.
    NotRun,
}

impl Verdict {
    /// Returns the verdict in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::WithinTolerance => "within tolerance",
            Self::Differs => "differs",
            Self::PrintIsWrong => "the print is wrong",
            Self::NotComparable => "not comparable",
            Self::PictureOnly => "picture only",
            Self::Unexplained => "differs, unexplained",
            Self::NotAsStated => "differs, not as stated",
            Self::Stale => "no longer differs",
            Self::Holds => "holds",
            Self::Refuted => "does not hold",
            Self::Faulty => "faulty",
            Self::NotRun => "not run",
        }
    }

    /// Returns whether the verdict makes the study fail.
    pub const fn is_open(self) -> bool {
        match self {
            Self::NotAsStated | Self::Stale | Self::Refuted | Self::Faulty => true,
            Self::Reproduced
            | Self::WithinTolerance
            | Self::Differs
            | Self::Unexplained
            | Self::PrintIsWrong
            | Self::NotComparable
            | Self::PictureOnly
            | Self::Holds
            | Self::NotRun => false,
        }
    }

    /// Returns the verdict in one or two words, for labels on a screen.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::WithinTolerance => "tolerated",
            Self::Differs => "differs",
            Self::PrintIsWrong => "print wrong",
            Self::NotComparable => "incomparable",
            Self::PictureOnly => "picture",
            Self::Unexplained => "unexplained",
            Self::NotAsStated => "not stated",
            Self::Stale => "stale",
            Self::Holds => "holds",
            Self::Refuted => "refuted",
            Self::Faulty => "faulty",
            Self::NotRun => "not run",
        }
    }
}
