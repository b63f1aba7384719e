// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hosts that take time, for every policy with a bound, and drives that keep only the contract on
//! which the bound relies. The simulator delays releases, batches, completions and replies at
//! random, up to the host's times. Tasks can have jitter of their own, with or without a host.

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_drive::{Completion, Drive};
use tidegate_model::{
    Arrivals, DriveContract, Duration, Host, HostTime, Outcome, PolicyName, RegulatorName, Request,
    RequestId, Theorem, Time, Workload,
};

use crate::black_box::CompletionStrategy;
use crate::drain_system::{DrainSystem, adaptive_system, gated_system};
use crate::priority_box::{PriorityBox, leaning_on_priority};
use crate::strict_classes::{self, LastInstant};
use crate::trial::Trial;
use crate::workloads::{self, Load};
use crate::{drains, generate};

const SEED: u64 = 20_261_125;

/// Returns a trial of a policy behind a host, and a drive for it; `None` for policies whose bounds
/// do not hold behind a host.
///
/// # Panics
/// If the policy has no bound at all.
#[must_use]
pub fn trial(number: u64, name: PolicyName, jobs: u64) -> Option<(Trial, Box<dyn Drive>)> {
    trial_behind(number, name, jobs, |random, workload| {
        let host = host(random, workload);
        workload.host = Host::Stated(host);
        loosen(random, workload, host);
        workloads::releases(random, workload)
    })
}

/// Returns a trial of a policy whose tasks have jitter, and a drive for it. Every second trial is
/// behind a host as well, and in a third of the trials the tasks arrive in bunches.
///
/// # Panics
/// As [`trial`].
#[must_use]
pub fn trial_with_jitter(
    number: u64,
    name: PolicyName,
    jobs: u64,
) -> Option<(Trial, Box<dyn Drive>)> {
    trial_behind(number, name, jobs, |random, workload| {
        let host =
            if number.is_multiple_of(2) { host(random, workload) } else { HostTime::default() };
        if number.is_multiple_of(2) {
            workload.host = Host::Stated(host);
        }
        give_jitter(random, workload);
        loosen(random, workload, host);
        // A file cannot state more jitter than this.
        for task in &mut workload.tasks {
            task.jitter = task.jitter.min(task.period - Duration::from_ns(1));
        }
        let releases = workloads::releases(random, workload);
        if random.random_range(0..3) == 0 { Arrivals::Bunched } else { releases }
    })
}

/// Returns a trial of a policy, and a drive for it. `behind` puts host and jitter between the
/// clients and the policy, and returns the arrivals.
fn trial_behind(
    number: u64,
    name: PolicyName,
    jobs: u64,
    behind: impl Fn(&mut Pcg64, &mut Workload) -> Arrivals,
) -> Option<(Trial, Box<dyn Drive>)> {
    let random = &mut generate::generator(SEED ^ name as u64, number);
    let theorem = name.facts().theorem.expect("the policy has a bound");
    let load = Load::numbered(number);
    let of_batches = |random: &mut Pcg64| workloads::workload(random, name, load);
    let (mut system, mut is_last_instant) = (None, false);
    let mut workload = match theorem {
        Theorem::Fifo | Theorem::DualQueue | Theorem::ElasticDualQueue => of_batches(random),
        Theorem::Edf | Theorem::DualQueueEdf => {
            let mut workload = of_batches(random);
            workloads::give_random_deadlines(random, &mut workload);
            workload
        }
        Theorem::EdfInWindows => {
            let mut workload = of_batches(random);
            workloads::give_random_deadlines(random, &mut workload);
            workloads::give_random_windows(random, &mut workload);
            workload
        }
        Theorem::Starvation => {
            let mut workload = of_batches(random);
            let together = random.random_range(1..=workload.depth);
            workloads::keep_what_fits(&mut workload, together);
            let starvation = workload.table.time_max(workload.depth);
            workloads::release_about_every(random, &mut workload, starvation.ns());
            workload.contracts.starvation_max = Some(starvation);
            workload
        }
        Theorem::DrainRounds | Theorem::LimitedDrainRounds => {
            let workload = of_batches(random);
            drains::leaning_on_drains(random, workload)
        }
        Theorem::PriorityRounds => {
            let workload = of_batches(random);
            leaning_on_priority(random, workload)
        }
        Theorem::AdaptiveDrain => system.insert(adaptive_system(random)).workload(),
        Theorem::GatedDrain => system.insert(gated_system(random)).workload(),
        Theorem::StrictClasses => {
            is_last_instant = true;
            strict_classes::workload(random, Duration::from_ns(1_000))
        }
        Theorem::ActiveSubset => return None,
    };
    if number % 5 == 4 && workload.tasks.iter().any(|task| task.requests > 1) {
        workload.regulators = vec![RegulatorName::TokensPerTask];
    }
    let releases = behind(random, &mut workload);
    let trial = Trial::new(number, name, workload, releases, jobs);
    let drive: Box<dyn Drive> = if is_last_instant {
        Box::new(LastInstant::of(&trial.workload))
    } else {
        drive(&trial, theorem.facts().contract, system.as_ref())
    };
    Some((trial, drive))
}

/// Returns a random host whose times are significant compared with the drive's times.
fn host(random: &mut Pcg64, workload: &Workload) -> HostTime {
    let shortest = workload.table.time_max(1).ns();
    let mut time = |most: u64| {
        Duration::from_ns(match random.random_range(0..4) {
            0 => 0,
            1 => 1,
            _ => random.random_range(0..=most),
        })
    };
    HostTime {
        release: time(shortest * 2),
        submit: time(shortest / 2),
        complete: time(shortest / 2),
        reply: time(shortest),
    }
}

/// Gives every task jitter that is significant compared with the drive's times.
fn give_jitter(random: &mut Pcg64, workload: &mut Workload) {
    let shortest = workload.table.time_max(1).ns();
    for task in &mut workload.tasks {
        task.jitter = Duration::from_ns(match random.random_range(0..5) {
            0 => 0,
            1 => 1,
            2 => shortest * 2,
            _ => random.random_range(0..=shortest * 2),
        });
    }
}

/// Lengthens the periods and deadlines of most workloads by exactly the time that host and jitter
/// take, so that they stay provable and no slack is added.
fn loosen(random: &mut Pcg64, workload: &mut Workload, host: HostTime) {
    if random.random_bool(0.1) {
        return;
    }
    // If one batch takes all waiting requests, a response spans two batches.
    let batches = host.of_batch() * 2;
    for task in &mut workload.tasks {
        task.period = task.period + host.release + task.jitter + batches;
        task.deadline = task.deadline + host.around_policy() + task.jitter + batches;
    }
}

/// Returns a drive that keeps the contract of a trial's workload, and nothing more.
///
/// # Panics
/// If the workload states no such contract.
#[must_use]
pub fn drive(
    trial: &Trial,
    contract: DriveContract,
    system: Option<&DrainSystem>,
) -> Box<dyn Drive> {
    let random = generate::generator(SEED + 1, trial.number);
    let contracts = &trial.workload.contracts;
    match (contract, system) {
        (DriveContract::Drain, Some(system)) => {
            let kinds = CompletionStrategy::ALL.len() as u64;
            let kind = usize::try_from(trial.number % kinds).expect("a few kinds");
            Box::new(system.black_box(CompletionStrategy::ALL[kind], random))
        }
        (DriveContract::Batches | DriveContract::Drain, _) => trial.drive(),
        (DriveContract::Starvation, _) => {
            let starvation_max = contracts.starvation_max.expect("the workload needs it");
            Box::new(StarvationBox { starvation_max, random, open: Vec::new() })
        }
        (DriveContract::Priority, _) => {
            let priority = contracts.priority.clone().expect("the workload needs it");
            Box::new(PriorityBox::new(priority, random))
        }
    }
}

/// A drive that keeps only its starvation bound: each request takes any time up to the bound, and
/// half of the requests take all of it.
struct StarvationBox {
    starvation_max: Duration,
    random: Pcg64,
    open: Vec<(Time, RequestId)>,
}

impl Drive for StarvationBox {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            let longest = self.starvation_max.ns();
            let is_longest = self.random.random_bool(0.5);
            let time = if is_longest { longest } else { self.random.random_range(1..=longest) };
            self.open.push((now + Duration::from_ns(time), request.id));
        }
    }

    fn next_event(&self) -> Option<Time> {
        self.open.iter().map(|&(at, _)| at).min()
    }

    fn flush(&mut self, _now: Time, _id: RequestId) {
        unreachable!("no policy flushes");
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        self.open.sort_unstable();
        let due = self.open.partition_point(|&(at, _)| at <= now);
        let done = self.open.drain(..due);
        out.extend(done.map(|(at, id)| Completion { id, at, outcome: Outcome::Done }));
    }
}
