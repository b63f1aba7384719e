// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Certificates of small systems that claim too much: near the true worst case, with steps that are
//! right or nearly so. The certificates that `verify` accepts must be true.

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_analysis::dqf::BacklogStep as Step;
use tidegate_verify::{BacklogStep, BusyInterval, Certificate, CertifiedTask, FileHash};

use crate::small::{SmallSystem, Ticks};

/// Returns a certificate of `system` with random claims around its longest responses, `truth`;
/// `steps` are those of the analysis.
#[must_use]
pub fn certificate(
    random: &mut Pcg64,
    system: &SmallSystem,
    truth: &[Ticks],
    steps: &[Step],
) -> Certificate {
    let file = FileHash { name: String::new(), sha256: String::new() };
    let victim = random.random_range(0..truth.len());
    let kind = random.random_range(0..6_u32);
    let tasks = (0..truth.len()).map(|task| claim(random, system, truth, kind, (task, victim)));
    let tasks = tasks.collect();
    let times = &system.table[1..=system.batch_max as usize];
    Certificate {
        format: tidegate_verify::VERSION,
        workload: file,
        drive: None,
        policy: "dqf".to_owned(),
        batch: system.batch_max.into(),
        best_effort_fill: system.best_effort_fill.into(),
        margin_ppm: 0,
        host: None,
        batch_ns_max: times.iter().map(|&ticks| ticks.into()).collect(),
        tasks,
        busy_interval: random.random_bool(0.7).then(|| busy_interval(random, system)),
        backlog: if random.random_bool(0.2) { Vec::new() } else { backlog(random, steps) },
        costs: None,
        drain: None,
    }
}

fn claim(
    random: &mut Pcg64,
    system: &SmallSystem,
    truth: &[Ticks],
    kind: u32,
    (index, victim): (usize, usize),
) -> CertifiedTask {
    let (task, longest) = (&system.tasks[index], u64::from(truth[index]));
    let period = u64::from(task.period);
    let tight = match kind {
        0 => longest + random.random_range(0..3),
        1 => longest.saturating_sub(random.random_range(0..3)),
        2 => random.random_range(0..=2 * longest),
        3 => period - random.random_range(0..=1),
        4 => random.random_range(0..=2 * period),
        _ => longest,
    };
    let stated = match random.random_range(0..10) {
        0..3 => tight,
        _ if index == victim => longest.saturating_sub(random.random_range(1..3)),
        _ => longest + random.random_range(0..60),
    };
    CertifiedTask {
        name: index.to_string(),
        period_ns: period,
        deadline_ns: u64::MAX,
        requests: task.requests.into(),
        response_ns_max: stated,
        tight_ns: random.random_bool(0.95).then_some(tight),
        cost_ns: None,
        client: None,
    }
}

fn busy_interval(random: &mut Pcg64, system: &SmallSystem) -> BusyInterval {
    let batches = random.random_range(0..12_u64);
    let length = batches * u64::from(system.table[system.batch_max as usize]);
    let tasks = system.tasks.iter();
    let released = tasks.map(|it| u64::from(it.requests) * length.div_ceil(it.period.into())).sum();
    BusyInterval { batches, released }
}

fn backlog(random: &mut Pcg64, steps: &[Step]) -> Vec<BacklogStep> {
    let mut all: Vec<BacklogStep> = steps
        .iter()
        .map(|step| BacklogStep {
            requests: step.requests,
            carry_ins: step.carry_ins.clone(),
            in_flight: step.in_flight,
            batches: step.batches,
            last: step.last,
            response_ns: step.response_ns,
        })
        .collect();
    if !all.is_empty() && random.random_bool(0.4) {
        let index = random.random_range(0..all.len());
        let (step, less) = (&mut all[index], random.random_range(0..3_u64));
        match random.random_range(0..6) {
            0 => step.requests += less,
            1 => drop(step.carry_ins.pop()),
            2 => step.in_flight = step.in_flight.saturating_sub(less),
            3 => step.batches = step.batches.saturating_sub(less),
            4 => step.last = step.last.saturating_sub(less),
            _ => step.response_ns = step.response_ns.saturating_sub(less),
        }
    }
    all
}
