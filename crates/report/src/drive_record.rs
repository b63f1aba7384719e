// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Determines why a response time exceeded its bound: either the drive broke the contract on which
//! the bound relies, or Tidegate is at fault.

use serde::{Serialize, Serializer};
use tidegate_analysis::Assessment;
use tidegate_host::{ContractWatch, Overruns};
use tidegate_model::{DeferredWrites, DriveContract, Duration, Op, Workload};

use crate::figures;
use crate::ns::Ns;
use crate::runs::PolicyReport;

/// Whether the drive kept its contracts in a run, for programs.
#[derive(Debug, Serialize)]
pub(crate) struct ContractsReport {
    batches: u64,
    contract: &'static str,
    overruns: Option<u64>,
    overruns_tolerated: Option<u64>,
    overrun_ns_max: Option<Ns>,
    contracts: ByContract,
}

/// Every contract that was measured.
#[derive(Debug)]
pub(crate) struct ByContract(Vec<(&'static str, OverrunsReport)>);

/// How often a contract was broken, and the largest excess.
#[derive(Debug, Clone, Copy, Serialize)]
struct OverrunsReport {
    observed: u64,
    overruns: u64,
    overruns_tolerated: u64,
    overrun_ns_max: Ns,
    overrun_ns_sum: Ns,
}

impl Serialize for ByContract {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, overruns)| (name, overruns)))
    }
}

impl ByContract {
    /// Returns the overruns of each measured contract.
    pub(crate) fn of(watch: &ContractWatch) -> Self {
        let each = DriveContract::ALL.into_iter().filter_map(|contract| {
            let seen = watch.overruns(contract)?;
            let Overruns { observed, overruns, tolerated, max, sum } = seen;
            let (overrun_ns_max, overrun_ns_sum) = (max.into(), sum.into());
            let overruns_tolerated = tolerated;
            let report = OverrunsReport {
                observed,
                overruns,
                overruns_tolerated,
                overrun_ns_max,
                overrun_ns_sum,
            };
            Some((contract.name(), report))
        });
        Self(each.collect())
    }
}

impl ByContract {
    /// States how often the drive broke this contract, and by how much; `None` if it did not.
    pub(crate) fn sentence(&self, contract: DriveContract) -> Option<String> {
        let (_, seen) = self.0.iter().find(|(name, _)| *name == contract.name())?;
        let (observed, overruns) = (seen.observed, seen.overruns);
        let what = broken(contract, Overruns { observed, overruns, ..Overruns::default() })?;
        let beyond = match overruns - seen.overruns_tolerated {
            0 => "the verdict tolerates that".to_owned(),
            void => format!("{void} of them beyond what the verdict tolerates"),
        };
        let most = figures::ms_ceil(seen.overrun_ns_max.0);
        Some(format!("{what} than the drive file says, by up to {most}: {beyond}"))
    }
}

/// States how often a drive broke a contract; `None` if it did not.
pub(crate) fn broken(contract: DriveContract, seen: Overruns) -> Option<String> {
    let Overruns { observed, overruns, .. } = seen;
    let what = match contract {
        DriveContract::Batches => format!("{overruns} of {observed} batches took longer"),
        DriveContract::Drain => {
            format!("after {overruns} of {observed} dispatches requests stayed longer")
        }
        DriveContract::Starvation => format!("{overruns} of {observed} requests stayed longer"),
        DriveContract::Priority => {
            format!("{overruns} of {observed} rounds with priority took longer")
        }
    };
    (overruns > 0).then_some(what)
}

/// Whether the drive kept its contracts in a run under one policy.
pub(crate) struct DriveRecord<'a> {
    result: &'a PolicyReport<'a>,
    watch: &'a ContractWatch,
}

impl<'a> DriveRecord<'a> {
    pub(crate) fn new(result: &'a PolicyReport<'a>, watch: &'a ContractWatch) -> Self {
        Self { result, watch }
    }

    /// Returns the contract against which the run is checked.
    fn contract(&self) -> DriveContract {
        self.result.policy().facts().contract()
    }

    /// Returns the overruns of the contract; `None` if it was never measured.
    fn overruns(&self) -> Option<Overruns> {
        self.watch.overruns(self.contract())
    }

    /// Returns the largest excess over this task's bound that the drive can explain; `None` if the
    /// drive broke its contract in a way that invalidates every bound.
    ///
    /// Overruns that the verdict tolerates can delay a job beyond its bound, but not beyond its
    /// deadline (`docs/theory/tolerance.md` section 27).
    ///
    /// Under contracts other than b(i), each job waits for at most two rounds, and these are late
    /// by at most the total lateness of all rounds of the run. A job is therefore late by at most
    /// that amount, provided that even then every response time is below every period, as the
    /// proofs require of the tasks as the policy sees them. Under b(i) the number of batches itself
    /// can grow, so no limit is known.
    pub(crate) fn allowance(&self, task: usize) -> Option<Duration> {
        let overruns = self.overruns().unwrap_or_default();
        if overruns.overruns == 0 {
            return Some(Duration::ZERO);
        }
        if !overruns.has_void() {
            let bound = self.result.assessment().tasks[task].response_max?.0;
            let deadline = self.result.workload().tasks[task].deadline;
            return Some(deadline.checked_sub(bound).unwrap_or_default());
        }
        match self.contract() {
            DriveContract::Batches => return None,
            DriveContract::Drain | DriveContract::Starvation | DriveContract::Priority => {}
        }
        let (workload, assessment) = (self.result.workload(), self.result.assessment());
        is_below_every_period(workload, assessment, overruns.sum).then_some(overruns.sum)
    }

    /// Describes the effect of a broken contract.
    pub(crate) fn sentence(&self) -> Option<String> {
        let seen = self.overruns()?;
        let Overruns { overruns, tolerated, max, .. } = seen;
        let what = broken(self.contract(), seen)?;
        let assessment = self.result.assessment();
        let says = if self.contract().is_plural() { "say" } else { "says" };
        let effect = match (overruns - tolerated, tolerated) {
            (0, _) => "the verdict tolerates that, and every deadline stands".to_owned(),
            (_, 0) => {
                let advice = advice(self.result.workload());
                format!("no proof holds for what they delay; {advice}")
            }
            (beyond, _) => {
                let advice = advice(self.result.workload());
                format!(
                    "{beyond} of them by more than the verdict tolerates, and no proof holds for \
                     what those delay; {advice}"
                )
            }
        };
        Some(format!(
            "{}: {what} than the drive's {} {says}, by up to {}: {effect}",
            self.result.policy(),
            figures::kept(assessment),
            figures::ms_ceil(max),
        ))
    }

    /// Returns the overruns of the contract against which the run is checked, and of each contract.
    pub(crate) fn report(&self) -> ContractsReport {
        let batches = self.watch.overruns(DriveContract::Batches).unwrap_or_default();
        let overruns = self.overruns();
        ContractsReport {
            batches: batches.observed,
            contract: self.contract().name(),
            overruns: overruns.map(|overruns| overruns.overruns),
            overruns_tolerated: overruns.map(|overruns| overruns.tolerated),
            overrun_ns_max: overruns.map(|overruns| overruns.max.into()),
            contracts: ByContract::of(self.watch),
        }
    }
}

/// Returns whether the largest bound at the policy, increased by `late`, is below every period at
/// the policy (`docs/theory/host-time.md` section 30).
fn is_below_every_period(workload: &Workload, assessment: &Assessment, late: Duration) -> bool {
    let bounds = assessment.tasks.iter().zip(workload.around_policy());
    let at_policy = bounds.filter_map(|(task, around)| task.response_max?.0.checked_sub(around));
    let late_max = at_policy.max().and_then(|response| response.checked_add(late));
    let tasks = &workload.planned().tasks;
    late_max.is_some_and(|late_max| tasks.iter().all(|task| late_max < task.period))
}

/// Returns the advice for a drive that took longer than its tables state: to take more samples, but
/// only if the workload resembles the measured requests.
fn advice(workload: &Workload) -> &'static str {
    let tasks = workload.tasks.iter().map(|task| task.op);
    let ops: Vec<Op> = tasks.chain(workload.best_effort.iter().map(|load| load.op)).collect();
    let is_mixed = ops.contains(&Op::Read) && ops.contains(&Op::Write);
    match (workload.contracts.deferred_writes, is_mixed) {
        (DeferredWrites::None | DeferredWrites::Measured, false) => {
            "measure the drive with more samples"
        }
        (DeferredWrites::None, true) => {
            "its tables know reads and writes apart, which more samples do not change: measure \
             mixed batches (`profile --only batch,mixed`) and give its drive file a [cost]"
        }
        (DeferredWrites::Measured, true) => "measure mixed batches with more samples",
        (DeferredWrites::Unmeasured, true) => {
            "its memory still carried out earlier writes, which no table knows and more samples \
             do not change: switch its write cache off and measure it again"
        }
        (DeferredWrites::Unmeasured, false) => {
            "its memory still carried out earlier writes: measure it with more samples, and writes \
             that are not at random places where they are"
        }
    }
}

#[cfg(test)]
mod tests {
    use tidegate_analysis::{BoundName, assess};
    use tidegate_model::{BatchTable, Bytes, HostTime, PolicyName, Task};

    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    /// The expected values are computed by hand: at the policy, the bounds are 500 ms and 100 ms,
    /// and the periods 1000 ms and 400 ms. The second task has 600 ms of jitter, which its bound
    /// and its period at the client include. Without jitter, the same bounds at the policy and
    /// periods of 1000 ms allow a lateness below 500 ms.
    #[test]
    fn late_responses_are_compared_as_the_policy_sees_them() {
        let task = |name: &str, jitter: u64| Task {
            jitter: ms(jitter),
            ..Task::periodic(name, ms(1000), Bytes::from_kib(4))
        };
        let table = BatchTable::new(&[ms(1)]).unwrap();
        let workload = |tasks| Workload { tasks, ..Workload::new("two", 1, table.clone()) };
        let allows = |workload: &Workload, bounds: [u64; 2], late: u64| {
            let mut assessment = assess(workload, PolicyName::RtioDrain);
            for (task, bound) in assessment.tasks.iter_mut().zip(bounds) {
                task.response_max = Some((ms(bound), BoundName::Tight));
            }
            is_below_every_period(workload, &assessment, ms(late))
        };
        let mixed = workload(vec![task("a", 0), task("b", 600)]);
        assert!(!allows(&mixed, [500, 700], 150), "500 + 150 is not below 1000 - 600");
        assert!(allows(&mixed, [100, 700], 299) && !allows(&mixed, [100, 700], 300));
        let even = workload(vec![task("a", 0), task("b", 0)]);
        assert!(allows(&even, [500, 100], 499) && !allows(&even, [500, 100], 500));
        // The time of a reply on its way to the client is not part of a round.
        let host = HostTime { reply: ms(300), ..HostTime::default() };
        let host = tidegate_model::Host::Stated(host);
        let behind = Workload { host, ..even };
        assert!(allows(&behind, [800, 400], 499) && !allows(&behind, [800, 400], 500));
    }
}
