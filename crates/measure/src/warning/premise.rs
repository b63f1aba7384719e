// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The premise that a warning adds to the drive file.
//!
//! If a warning is about something that the file lacks, it adds no premise, because no bound uses
//! it.

use tidegate_model::{Premise, PremiseCode, count};

use super::Warning;

impl Warning {
    /// Returns the premise that the warning adds to every bound from the measured tables; `None` if
    /// the warning is not about them.
    pub fn premise(&self) -> Option<Premise> {
        self.premise_or_kind().ok()
    }

    /// Returns the identifier for JSON output: the code of the premise, if there is one.
    pub fn kind(&self) -> &'static str {
        self.premise_or_kind().map_or_else(|kind| kind, |premise| premise.code.name())
    }

    fn premise_or_kind(&self) -> Result<Premise, &'static str> {
        use PremiseCode as Code;
        let (code, subject) = match self {
            Self::FewSamples { samples, .. } => (Code::FewSamples, &*count(samples, "sample")),
            Self::Quick => (Code::Quick, "--quick"),
            Self::Cancelled { .. } | Self::NotBegun { .. } => {
                (Code::Incomplete, "a stopped measurement")
            }
            Self::HeldUp { .. } => (Code::HostDelays, "host delays"),
            Self::Stolen { .. } => (Code::HostDelays, "stolen time"),
            Self::Drifted { .. } => (Code::Drift, "drift"),
            Self::Dependent { .. } => (Code::DependentSamples, "dependent samples"),
            Self::PriorityIgnored => (Code::PriorityIgnored, "an ignored priority"),
            Self::Split { .. } => (Code::SplitRequests, "split requests"),
            Self::Scheduler { name, .. } => (Code::Scheduler, &*format!("scheduler {name}")),
            Self::DepthHidden { .. } => (Code::DepthHidden, "requests held back by the kernel"),
            Self::WriteCache => (Code::WriteCache, "a write cache"),
            Self::FileOnly { .. } => (Code::FileOnly, "a file only"),
            Self::VirtualDisk { .. } => (Code::Hypervisor, "a hypervisor"),
            Self::OtherLoad(..) => (Code::OtherLoad, "other load"),
            Self::TooWarm(..) => (Code::TooWarm, "a hot device"),
            Self::NotRealTime => (Code::NoRealTime, "no real-time scheduling"),
            Self::Layered(layer) => return Ok(layer.into()),
            Self::Target(note) => return Ok(note.into()),
            Self::Skipped { .. } => return Err("skipped"),
            Self::Endless { .. } => return Err("endless"),
            Self::FlushGrows { .. } => return Err("flush_grows"),
            Self::JournalFailed(..) => return Err("journal_failed"),
            Self::RoundsLeft { .. } => return Err("rounds_left"),
            Self::NoRotation(..) => return Err("no_rotation"),
            Self::NotSeen { .. } => return Err("not_seen"),
            Self::MechanicsApart { .. } => return Err("mechanics_apart"),
            Self::MechanicsAmbiguous(..) => return Err("mechanics_ambiguous"),
            Self::NoCosts(..) => return Err("no_costs"),
        };
        Ok(Premise::new(code, subject, self.to_string()))
    }
}
