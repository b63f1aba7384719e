// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A proof without a doubt holds on a drive whose times reach their ceilings, behind a host that
//! takes the stated times: the policies' own code, at the shortest deadline that is proven without
//! a doubt (`docs/decisions/0030-ceilings.md`, `docs/theory/host-time.md` section 30).

use rand::RngExt;
use tidegate_analysis::assess;
use tidegate_drive::Drive;
use tidegate_model::{
    BatchTable, Ceilings, Duration, Grade, PolicyName, Slowdown, Theorem, Workload,
};
use tidegate_soundness::host_time::{drive, trial};
use tidegate_soundness::trial::Trial;
use tidegate_soundness::{drains, generate};

const SEED: u64 = 20_261_126;
const TRIALS: u64 = 150;
const JOBS: u64 = 40;

/// The policies whose proofs can hold at ceilings behind a host.
fn policies() -> impl Iterator<Item = PolicyName> {
    PolicyName::ALL.into_iter().filter(|policy| {
        policy.facts().theorem.is_ok_and(|theorem| match theorem {
            Theorem::Fifo
            | Theorem::Edf
            | Theorem::EdfInWindows
            | Theorem::DualQueue
            | Theorem::ElasticDualQueue
            | Theorem::DualQueueEdf
            | Theorem::Starvation
            | Theorem::DrainRounds
            | Theorem::LimitedDrainRounds => true,
            // These policies have no ceilings or no proof behind a host, or other tests run them on
            // drives of their own.
            Theorem::PriorityRounds
            | Theorem::ActiveSubset
            | Theorem::AdaptiveDrain
            | Theorem::GatedDrain
            | Theorem::StrictClasses => false,
        })
    })
}

/// A trial whose drive has ceilings, at the shortest deadline that is proven without a doubt.
struct Case {
    trial: Trial,
    ceilings: Ceilings,
}

impl Case {
    /// Returns the case of this number. `known` makes the ceilings of the proof from those of the
    /// drive.
    fn numbered(
        number: u64,
        policy: PolicyName,
        known: impl Fn(&Workload, Ceilings) -> Ceilings,
    ) -> Option<Self> {
        let (mut trial, _) = trial(number, policy, JOBS)?;
        let random = &mut generate::generator(SEED, number);
        let slowdown = Slowdown::by_ppm(random.random_range(0..800_000));
        let ceilings = ceilings(&trial.workload, slowdown);
        trial.workload.contracts.ceilings = Some(known(&trial.workload, ceilings.clone()));
        shorten(&mut trial.workload, policy)?;
        trial.assess_anew();
        Some(Self { trial, ceilings })
    }

    /// Returns the number of missed deadlines on a drive whose times equal its ceilings.
    fn misses(&self) -> u64 {
        let Self { trial, ceilings } = self;
        let mut slow = trial.clone();
        slow.workload.table = ceilings.batches.clone();
        slow.workload.contracts.drain = Some(ceilings.drain.clone());
        slow.workload.contracts.starvation_max = ceilings.starvation_max;
        let theorem = trial.assessment.policy.facts().theorem.expect("it has a bound");
        let drive: Box<dyn Drive> = drive(&slow, theorem.facts().contract, None);
        let (run, ()) = trial.checked_run(drive, ());
        run.metrics.tasks().iter().map(|task| task.misses).sum()
    }
}

/// Returns ceilings that exceed the contracts of a workload by `slowdown`.
fn ceilings(workload: &Workload, slowdown: Slowdown) -> Ceilings {
    let batches = slowdown.of_table(&workload.table);
    let drain = drains::drain_table(&batches);
    let starvation_max = workload.contracts.starvation_max.map(|time| slowdown.of_time(time));
    Ceilings { batches, drain, starvation_max }
}

/// Gives all tasks the shortest common deadline that is proven at the ceilings; `None` if none is.
fn shorten(workload: &mut Workload, policy: PolicyName) -> Option<()> {
    let period = workload.tasks.iter().map(|task| task.period).min()?;
    let is_strong = |workload: &mut Workload, ns: u64| {
        for task in &mut workload.tasks {
            task.deadline = Duration::from_ns(ns);
        }
        assess(workload, policy).grade() == Some(Grade::Strong)
    };
    let (mut short, mut long) = (0, period.ns() * 8);
    if !is_strong(workload, long) {
        long = period.ns();
        if !is_strong(workload, long) {
            return None;
        }
    }
    while short + 1 < long {
        let middle = u64::midpoint(short, long);
        if is_strong(workload, middle) {
            long = middle;
        } else {
            short = middle;
        }
    }
    is_strong(workload, long).then_some(())
}

#[test]
fn a_proof_without_a_doubt_holds_at_the_ceilings_behind_a_host() {
    for policy in policies() {
        let mut cases = 0;
        for number in 0..TRIALS {
            let case = Case::numbered(number, policy, |_, ceilings| ceilings);
            let Some(case) = case else { continue };
            assert_eq!(case.misses(), 0, "{number} under {policy}: {:#?}", case.trial.workload);
            cases += 1;
        }
        println!("{policy}: {cases} cases");
        assert!(cases > 30, "{policy}: {cases}");
    }
}

/// Canary: a host that slows the tables but not the ceilings is caught.
#[test]
fn ceilings_without_the_hosts_time_are_caught() {
    let without = |workload: &Workload, ceilings: Ceilings| {
        let host = workload.host_in_batch();
        let less = |time: Duration| time.checked_sub(host).unwrap_or(Duration::from_ns(1));
        let of_table = |table: &BatchTable| {
            let times: Vec<_> =
                (1..=table.batch_max()).map(|it| less(table.time_max(it))).collect();
            BatchTable::new(&times).expect("no entry is zero")
        };
        Ceilings {
            batches: of_table(&ceilings.batches),
            drain: of_table(&ceilings.drain),
            starvation_max: ceilings.starvation_max.map(less),
        }
    };
    for policy in policies() {
        let mut cases = (0..TRIALS).filter_map(|number| Case::numbered(number, policy, without));
        assert!(cases.any(|case| case.misses() > 0), "{policy} without the host's time survives");
    }
}
