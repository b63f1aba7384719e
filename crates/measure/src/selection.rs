// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Selects the experiments that a measurement runs, based on those that the user named.

use tidegate_model::{DriveFile, DriveKind};

use crate::experiment::Experiment;

/// The user's choice of experiments.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// The named experiments; if empty, all experiments that apply.
    pub only: &'a [Experiment],
    /// Whether a first look is enough (`--quick`).
    pub is_quick: bool,
}

impl Selection<'_> {
    /// Returns the experiments to run on a device. `may_write` says whether its data may be
    /// destroyed.
    pub fn on_device(&self, may_write: bool) -> Vec<Experiment> {
        self.chosen(|it| may_write || !it.destroys_data())
    }

    /// Returns the experiments to run on a simulated drive of this kind. Writing destroys nothing
    /// there, but a drive that has only batch tables has no cache to flush.
    pub fn on_drive(&self, file: &DriveFile, kind: DriveKind) -> Vec<Experiment> {
        let honours_priority = file.honours_priority();
        let mut chosen = self.chosen(|it| honours_priority || !it.facts().needs_priority);
        chosen.retain(|it| !kind.takes_longest_times() || !it.destroys_data());
        chosen
    }

    /// Returns the named experiments, each with its measurement by families of places, because a
    /// table of random places alone is weak. If none is named, returns all that `is_applicable`.
    fn chosen(&self, is_applicable: impl Fn(Experiment) -> bool) -> Vec<Experiment> {
        if self.only.is_empty() {
            let is_left_out = |it: Experiment| self.is_quick && it.facts().is_omitted_when_quick;
            let is_chosen = |&it: &Experiment| is_applicable(it) && !is_left_out(it);
            return Experiment::ALL.into_iter().filter(is_chosen).collect();
        }
        let is_implied = |it: &Experiment| {
            let of = it.facts().places_of;
            of.is_some_and(|of| self.only.contains(&of)) && !self.only.contains(it)
        };
        let implied = Experiment::ALL.into_iter().filter(is_implied);
        self.only.iter().copied().chain(implied).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(experiments: &[Experiment]) -> String {
        experiments.iter().map(|it| it.name()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_named_experiment_includes_its_places_once() {
        let of = |only: &[Experiment]| names(&Selection { only, is_quick: true }.on_device(false));
        assert_eq!(of(&[Experiment::DRAIN, Experiment::SINGLE]), "drain single drain-places");
        assert_eq!(of(&[Experiment::PLACES, Experiment::BATCH]), "places batch");
        assert_eq!(of(&[Experiment::FLUSH]), "flush");
    }

    #[test]
    fn a_first_look_and_safe_data_leave_experiments_out() {
        let left_out = |is_quick: bool, may_write: bool| {
            let chosen = Selection { only: &[], is_quick }.on_device(may_write);
            let left_out = Experiment::ALL.into_iter().filter(|it| !chosen.contains(it));
            names(&left_out.collect::<Vec<_>>())
        };
        assert_eq!(left_out(false, true), "");
        assert_eq!(left_out(false, false), "flush");
        let quick = "drain-places elevator starvation-places mixed-places drain-adversary";
        assert_eq!(left_out(true, true), quick);
    }

    #[test]
    fn a_simulated_drive_decides_on_priority_and_flushes() {
        let left_out = |file: &DriveFile, kind: DriveKind| {
            let chosen = Selection { only: &[], is_quick: false }.on_drive(file, kind);
            let left_out = Experiment::ALL.into_iter().filter(|it| !chosen.contains(it));
            names(&left_out.collect::<Vec<_>>())
        };
        let mut file = tidegate_drive::builtin::load("fujitsu-max3036rc").expect("built in");
        assert_eq!(left_out(&file, DriveKind::Mechanical), "priority priority-places");
        assert_eq!(left_out(&file, DriveKind::Pseudo), "priority priority-places flush");
        file.mechanics.as_mut().expect("a disk").queue.priority = true;
        assert_eq!(left_out(&file, DriveKind::Mechanical), "");
    }
}
