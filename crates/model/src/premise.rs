// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The premises of verdicts: a premise is a value with a code, a subject and a text.
//!
//! `tidegate profile` writes the premises of its tables into the drive file, the analysis adds
//! those of its bounds, and every command that gives a verdict carries both.
//! `docs/reference/premises.md` lists the codes; a test compares that table with [`PremiseCode`].

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

names! {
    /// The degree to which a premise weakens a verdict.
    pub enum Weight {
        /// A fact that a reader of the verdict must know; it raises no doubt.
        Note => "note",
        /// A doubt: the bounds may fail although nothing breaks its contract.
        Weak => "weak",
        /// The verdict does not hold: nothing is proven.
        Void => "void",
    }
}

names! {
    /// The grade of a verdict.
    pub enum Grade {
        /// Every premise is a note.
        Strong => "strong",
        /// At least one premise is a doubt.
        Weak => "weak",
    }
}

/// Defines the codes of premises, each with its weight and the condition under which it is given.
macro_rules! codes {
    (
        $(#[$about:meta])*
        pub enum $Name:ident { $($Code:ident => $text:literal, $Weight:ident, $meaning:literal;)+ }
    ) => {
        names! {
            $(#[$about])*
            pub enum $Name { $(#[doc = $meaning] $Code => $text,)+ }
        }

        impl $Name {
            /// Returns the weight of a premise of this code: the extent to which it weakens a
            /// verdict.
            pub const fn weight(self) -> Weight {
                match self { $(Self::$Code => Weight::$Weight,)+ }
            }

            /// Returns the condition under which a premise of this code is given, one line.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$Code => $meaning,)+ }
            }
        }
    };
}

codes! {
    /// The codes of premises. The first line of a verdict names doubts in this order.
    pub enum PremiseCode {
        // Codes that void a verdict: nothing is proven.
        PlacesSetUnmeasured => "places_set_unmeasured", Void,
            "the workload sets places of requests, and the drive's tables were measured at random places only";
        PredictionUnmeasured => "prediction_unmeasured", Void,
            "`das`: the error of the predicted service times was not measured on this drive";
        HostTimeTooLong => "host_time_too_long", Void,
            "the host's time and the task's jitter use up its whole period or deadline";

        // Doubts about how much of the drive was measured.
        FewSamples => "few_samples", Weak,
            "fewer than 72,704 samples of some entry (99 % confidence to see a time beyond 4 sigma), or a number that the drive file does not state";
        Searched => "searched", Weak,
            "a simulated drive's parts allow longer times than its tables, and with those times a deadline is missed";
        Incomplete => "incomplete", Weak, "the measurement was stopped before it was complete";
        PlacesUnmeasured => "places_unmeasured", Weak,
            "the drive's tables were measured at random places only";
        PlacesByOrder => "places_by_order", Weak,
            "positions decide the order of requests, and the drive was measured in another order";

        // Doubts about where the drive was measured.
        Hypervisor => "hypervisor", Weak, "the driver or the model of a disk is a hypervisor's";
        MemoryDevice => "memory_device", Weak, "the device keeps its data in memory";
        Remote => "remote", Weak, "the file system keeps its data on another machine or in another program";
        Layered => "layered", Weak, "the device is a loop device, an array, a device-mapper device or has zones";
        FileOnly => "file_only", Weak, "measured within a file, not on the whole device";
        Mounted => "mounted", Weak, "the device carries a mounted file system";
        OtherLoad => "other_load", Weak,
            "the device completed at least one request of another program during the measurement";
        OtherDevice => "other_device", Weak,
            "`run`: model or place of the device differ from the drive file's";
        Scheduler => "scheduler", Weak, "the kernel's scheduler of a disk is not `none`";
        SplitRequests => "split_requests", Weak, "the kernel splits the largest request";
        DepthHidden => "depth_hidden", Weak,
            "batches were measured that are larger than the number of requests that reach the device at once";
        DirectIoUnproven => "direct_io_unproven", Weak,
            "only the file's owner can check that direct I/O avoids the page cache";
        WriteCache => "write_cache", Weak,
            "writes were measured on a device with a volatile write cache";
        DeferredWrites => "deferred_writes", Weak,
            "the workload only writes, to a drive that carries out writes later";

        // Doubts about how steadily the drive was measured.
        DependentSamples => "dependent_samples", Weak,
            "the samples of some entry carry the information of less than half of their number";
        Drift => "drift", Weak,
            "the last third of some samples differs significantly from the first third";
        NoRealTime => "no_real_time", Weak,
            "measured without real-time scheduling and locked memory";
        TooWarm => "too_warm", Weak, "the device was at its temperature limit during the measurement";
        Quick => "quick", Weak, "measured with `profile --quick`";

        // Doubts about assumptions that no measurement supports.
        MixedUnmeasured => "mixed_unmeasured", Weak,
            "batches of reads and writes are charged by tables that were measured with reads alone and with writes alone";
        CostsUnmeasured => "costs_unmeasured", Weak,
            "the bound `mixed` rests on costs that come from batches of one kind each";
        DataSheet => "data_sheet", Weak, "the drive's times were computed from a data sheet, not measured";
        CpuExtrapolated => "cpu_extrapolated", Weak,
            "the processor's demand is needed for longer intervals than were measured";
        // Notes: facts that a reader must know.
        Simulated => "simulated", Note, "the drive's times were simulated or computed";
        Chosen => "chosen", Note, "the drive's times or its mechanics were chosen, not measured";
        PerfectKnowledge => "perfect_knowledge", Note,
            "`das` in a simulation: the policy knows every service time exactly";
        HostTimeExcluded => "host_time_excluded", Note,
            "the workload does not state the host's time, so the bounds do not contain it";
        HostTimeIncluded => "host_time_included", Note,
            "the workload states the host's time, and the bounds are those of the clients";
        HostDelays => "host_delays", Note,
            "the host or its hypervisor lengthened measured times, so the tables are too long";
        PriorityIgnored => "priority_ignored", Note,
            "measured requests with the drive's own priority were no faster than others";
        PlacesAbsent => "places_absent", Note,
            "the workload states places that do not occur, and their times do not count";
        FamiliesScreened => "families_screened", Note,
            "some families of places have only a pilot's samples, which found them far below others";
        LargerSize => "larger_size", Note,
            "requests are charged as larger ones, because their size was not measured";
        RunningMaximum => "running_maximum", Note,
            "some batch was measured faster than a smaller one, whose time is used";
        RaisedContract => "raised_contract", Note,
            "a contract of the drive was measured below one of its cases, whose time is used";
        FlushCharged => "flush_charged", Note, "`serve`: every batch is charged the longest flush";
        FlushExcluded => "flush_excluded", Note,
            "`serve`: drain times, starvation and priority were measured without flushes";
        StarvationContract => "starvation_contract", Note,
            "the bound rests on the drive's starvation bound";
        DrainContract => "drain_contract", Note, "the bound rests on the drive's drain times";
        PriorityContract => "priority_contract", Note,
            "the bound rests on the drive's times with its own priority";
        CostContract => "cost_contract", Note, "the bound `mixed` rests on the costs of requests";
        Prediction => "prediction", Note,
            "`das`: the bound rests on the predicted service times and the margin";
        KernelSettings => "kernel_settings", Note,
            "`mq-deadline-tuned`: the bound rests on the kernel's settings and on the classes of all requests";
        CompletionFirst => "completion_first", Note,
            "a completion at the instant of a release is processed before the release";
        BoundIsDeadline => "bound_is_deadline", Note,
            "the policy gives best effort all the time before a deadline that the task does not need";
        BestEffortPauses => "best_effort_pauses", Note,
            "best effort gets nothing from the instant at which every task may release until one does";
        PileUp => "pile_up", Note, "a task may release again before its last job is complete";
        ElasticBatches => "elastic_batches", Note, "`dqf-elastic`: the bounds are those of `dqf`";
        CostLimitedBatches => "cost_limited_batches", Note, "batches are limited by `batch_cost`";
        ShapedBestEffort => "shaped_best_effort", Note, "best effort is shaped above the policy";
        TokensPerTask => "tokens_per_task", Note,
            "with `tokens-per-task` a bound counts from the instant at which a request takes its token";
        PriorityUnsent => "priority_unsent", Note,
            "`rtio-priority`: it is not certain that the device gets the priority, so no bound is given";
        CpuDemandMeasured => "cpu_demand_measured", Note,
            "the processor's demand of others is a measured bound, not a proven one";
        CpuUnseenThreads => "cpu_unseen_threads", Note,
            "the processor's demand was measured at a priority at or above a task's, which hides threads";
    }
}

impl PremiseCode {
    /// Returns whether a premise of this code is about the drive itself, so that another
    /// measurement does not replace it.
    #[rustfmt::skip]
    pub const fn is_about_drive(self) -> bool {
        match self {
            Self::Simulated | Self::Chosen => true,
            Self::PlacesSetUnmeasured | Self::PredictionUnmeasured | Self::FewSamples | Self::Incomplete
            | Self::PlacesUnmeasured | Self::PlacesByOrder | Self::Hypervisor | Self::MemoryDevice | Self::Remote | Self::Layered
            | Self::FileOnly | Self::Mounted | Self::OtherLoad | Self::OtherDevice | Self::Scheduler
            | Self::SplitRequests | Self::DepthHidden | Self::DirectIoUnproven | Self::WriteCache
            | Self::DeferredWrites | Self::DependentSamples | Self::Drift | Self::NoRealTime | Self::TooWarm
            | Self::Quick | Self::DataSheet | Self::MixedUnmeasured | Self::CostsUnmeasured | Self::CpuExtrapolated
            | Self::PerfectKnowledge | Self::HostTimeExcluded | Self::HostTimeIncluded | Self::HostTimeTooLong
            | Self::HostDelays | Self::PriorityIgnored | Self::Searched
            | Self::PlacesAbsent | Self::FamiliesScreened | Self::LargerSize | Self::RunningMaximum
            | Self::RaisedContract | Self::FlushCharged | Self::FlushExcluded | Self::StarvationContract
            | Self::DrainContract | Self::PriorityContract | Self::CostContract | Self::Prediction
            | Self::KernelSettings | Self::CompletionFirst | Self::BoundIsDeadline | Self::BestEffortPauses | Self::PileUp
            | Self::ElasticBatches | Self::CostLimitedBatches | Self::ShapedBestEffort | Self::TokensPerTask
            | Self::PriorityUnsent | Self::CpuDemandMeasured | Self::CpuUnseenThreads => false,
        }
    }
}

/// Reads and writes names as texts; an unknown name is refused with the list of known ones.
macro_rules! by_name {
    ($($Name:ident: $what:literal,)+) => {$(
        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $Name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                Self::from_name(&name).ok_or_else(|| {
                    let known = Self::ALL.map(Self::name).join(", ");
                    de::Error::custom(format!(concat!("`{}` is no ", $what, "\nwrite one of {}"), name, known))
                })
            }
        }
    )+};
}

by_name! {
    Weight: "weight of a premise",
    Grade: "grade",
    PremiseCode: "code of a premise",
}

/// A fact or a doubt that a verdict rests on. This is its form in files; [`Premises`] adds the
/// weight in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Premise {
    /// The code: the kind of premise.
    pub code: PremiseCode,
    /// The subject: a noun phrase for the first line of a verdict, for example `100 samples`.
    pub subject: String,
    /// A sentence without its full stop; for a doubt it says what to do, unless `to_do` does.
    pub text: String,
    /// A command that removes the doubt. Only names in capitals must be replaced, because only the
    /// user knows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_do: Option<String>,
}

impl Premise {
    /// Creates a premise without a command that removes it.
    pub fn new(code: PremiseCode, subject: impl Into<String>, text: impl Into<String>) -> Self {
        Self { code, subject: subject.into(), text: text.into(), to_do: None }
    }

    /// Adds the command that removes the doubt.
    #[must_use]
    pub fn with_to_do(self, command: impl Into<String>) -> Self {
        Self { to_do: Some(command.into()), ..self }
    }

    /// Returns the premise's weight: the extent to which it weakens a verdict.
    pub const fn weight(&self) -> Weight {
        self.code.weight()
    }
}

/// The premises of a verdict, each once, in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Premises(Vec<Premise>);

/// The maximum number of doubts that [`Premises::doubts`] names; if exactly one more remains, it is
/// named too.
const NAMED_MAX: usize = 3;

impl Premises {
    /// Adds a premise unless the list already contains it.
    pub fn push(&mut self, premise: Premise) {
        if !self.0.contains(&premise) {
            self.0.push(premise);
        }
    }

    /// Changes the commands of all premises, for example to name the files that the user knows.
    pub fn change_to_do(&mut self, change: impl Fn(&str) -> String) {
        for command in self.0.iter_mut().filter_map(|premise| premise.to_do.as_mut()) {
            *command = change(command);
        }
    }

    /// Removes the premises with these codes.
    pub fn remove(&mut self, codes: &[PremiseCode]) {
        self.0.retain(|premise| !codes.contains(&premise.code));
    }

    /// Keeps the premises of the codes for which `is_kept` holds.
    pub fn retain(&mut self, is_kept: impl Fn(PremiseCode) -> bool) {
        self.0.retain(|premise| is_kept(premise.code));
    }

    /// Returns these premises and then `others`.
    #[must_use]
    pub fn and(&self, others: &Self) -> Self {
        self.iter().chain(others).cloned().collect()
    }

    /// Returns all premises.
    pub fn iter(&self) -> std::slice::Iter<'_, Premise> {
        self.0.iter()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the premises of this weight.
    pub fn of(&self, weight: Weight) -> impl Iterator<Item = &Premise> {
        self.iter().filter(move |premise| premise.weight() == weight)
    }

    /// Returns the premises of this code.
    pub fn of_code(&self, code: PremiseCode) -> impl Iterator<Item = &Premise> {
        self.iter().filter(move |premise| premise.code == code)
    }

    /// Returns the first premise that voids a verdict.
    pub fn void(&self) -> Option<&Premise> {
        self.of(Weight::Void).next()
    }

    /// Returns the grade of a verdict that rests on these premises.
    pub fn grade(&self) -> Grade {
        let is_note = |premise: &Premise| premise.weight() == Weight::Note;
        if self.iter().all(is_note) { Grade::Strong } else { Grade::Weak }
    }

    /// Returns the subjects of the doubts for one line: `100 samples, a hypervisor, drift and 2
    /// more`; empty without a doubt.
    pub fn doubts(&self) -> String {
        let mut doubts: Vec<_> = self.of(Weight::Weak).map(|it| (it.code, &*it.subject)).collect();
        doubts.sort_by_key(|&(code, _)| code);
        doubts.dedup();
        listed(&doubts.iter().map(|&(_, subject)| subject).collect::<Vec<_>>())
    }
}

/// Lists the first names, and counts the others if they are several: `a, b, c and 2 more`.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let shown = if more == 1 { names.len() } else { names.len() - more };
    let text = names[..shown].iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if more > 1 { format!("{text} and {more} more") } else { text }
}

impl FromIterator<Premise> for Premises {
    fn from_iter<I: IntoIterator<Item = Premise>>(premises: I) -> Self {
        let mut all = Self::default();
        all.extend(premises);
        all
    }
}

impl Extend<Premise> for Premises {
    fn extend<I: IntoIterator<Item = Premise>>(&mut self, premises: I) {
        premises.into_iter().for_each(|premise| self.push(premise));
    }
}

impl<'a> IntoIterator for &'a Premises {
    type Item = &'a Premise;
    type IntoIter = std::slice::Iter<'a, Premise>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Premises {
    type Item = Premise;
    type IntoIter = std::vec::IntoIter<Premise>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// A premise in JSON: with its weight, so that a reader needs no list of codes.
#[derive(Serialize, Deserialize)]
struct Weighted<'a> {
    code: PremiseCode,
    subject: Cow<'a, str>,
    text: Cow<'a, str>,
    weight: Weight,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to_do: Option<Cow<'a, str>>,
}

impl Serialize for Premises {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|premise| Weighted {
            code: premise.code,
            subject: premise.subject.as_str().into(),
            text: premise.text.as_str().into(),
            weight: premise.weight(),
            to_do: premise.to_do.as_deref().map(Cow::Borrowed),
        }))
    }
}

impl<'de> Deserialize<'de> for Premises {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = Vec::<Weighted<'_>>::deserialize(deserializer)?;
        let premise = |it: Weighted<'_>| Premise {
            to_do: it.to_do.map(Cow::into_owned),
            ..Premise::new(it.code, it.subject, it.text)
        };
        Ok(all.into_iter().map(premise).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn premises(codes: &[PremiseCode]) -> Premises {
        codes.iter().map(|&code| Premise::new(code, code.name(), "text")).collect()
    }

    #[test]
    fn grade_is_weak_with_one_doubt() {
        let note = PremiseCode::Simulated;
        assert_eq!(premises(&[]).grade(), Grade::Strong);
        assert_eq!(premises(&[note]).grade(), Grade::Strong);
        for code in PremiseCode::ALL.into_iter().filter(|code| code.weight() != Weight::Note) {
            assert_eq!(premises(&[note, code]).grade(), Grade::Weak, "{code}");
        }
    }

    #[test]
    fn the_first_line_names_three_doubts_in_the_order_of_the_codes() {
        use PremiseCode::{Drift, FewSamples, Hypervisor, Quick, Simulated, WriteCache};
        assert_eq!(premises(&[Simulated]).doubts(), "");
        assert_eq!(premises(&[Quick, Simulated, Hypervisor]).doubts(), "hypervisor, quick");
        let all = premises(&[Quick, WriteCache, Drift, FewSamples, Hypervisor, Simulated]);
        assert_eq!(all.doubts(), "few_samples, hypervisor, write_cache and 2 more");
    }

    #[test]
    fn a_premise_is_kept_once() {
        let (a, b) = (premises(&[PremiseCode::Drift]), premises(&[PremiseCode::Quick]));
        assert_eq!(a.and(&b).and(&a), premises(&[PremiseCode::Drift, PremiseCode::Quick]));
    }

    #[test]
    fn meanings_are_one_line_without_a_full_stop() {
        for code in PremiseCode::ALL {
            let meaning = code.meaning();
            assert!(!meaning.ends_with('.') && !meaning.contains(['\n', '|']), "{code}: {meaning}");
        }
    }
}
