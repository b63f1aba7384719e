// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a warning is about, in a word that programs can rely on.

use super::Warning;

impl Warning {
    /// Returns the word of the JSON output.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::FewSamples { .. } => "few_samples",
            Self::Cancelled { .. } => "cancelled",
            Self::NotBegun { .. } => "not_begun",
            Self::Skipped { .. } => "skipped",
            Self::Endless { .. } => "endless",
            Self::FlushGrows { .. } => "flush_grows",
            Self::JournalFailed(..) => "journal_failed",
            Self::RoundsLeft { .. } => "rounds_left",
            Self::HeldUp { .. } => "held_up",
            Self::Drifted { .. } => "drifted",
            Self::NoRotation(..) => "no_rotation",
            Self::NotSeen { .. } => "not_seen",
            Self::NoCosts(..) => "no_costs",
            Self::Dependent { .. } => "dependent",
            Self::PriorityIgnored => "priority_ignored",
            Self::Split { .. } => "split",
            Self::Scheduler { .. } => "scheduler",
            Self::DepthHidden { .. } => "depth_hidden",
            Self::WriteCache => "write_cache",
            Self::FileOnly { .. } => "file_only",
            Self::VirtualDisk { .. } => "virtual_disk",
            Self::Stolen { .. } => "stolen",
            Self::OtherLoad(..) => "other_load",
            Self::Layered(..) => "layered",
            Self::TooWarm(..) => "too_warm",
            Self::NotRealTime => "not_real_time",
            Self::Target(..) => "target",
        }
    }
}
