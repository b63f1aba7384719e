// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints the effect of the order of best effort on the disk of RTAS 2008: the total throughput of
//! each policy with best effort in the order of release, in elevator order, and chosen by an oracle
//! that knows every access time, as shares of `rtio` without a limit.
//!
//! The three runs differ only in the order: gate, bounds and regulators are the same, so the oracle
//! is the ceiling of every order. Each figure is the mean over five seeds; misses and excesses over
//! bounds are counted over all seeds.
//!
//! ```text
//! cargo run --release -p tidegate-soundness --example orders -- 400
//! ```

use tidegate_analysis::Answer;
use tidegate_model::{BestEffortOrder, Duration, Intensity, PolicyName};
use tidegate_soundness::disk::{Disk, Outcome};
use tidegate_soundness::throttling::experiment;

const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];
const POLICIES: [PolicyName; 5] = [
    PolicyName::Dqf,
    PolicyName::Edf,
    PolicyName::RtioLimit,
    PolicyName::AdaptiveDrain,
    PolicyName::GatedDrain,
];
const ORDERS: [BestEffortOrder; 3] =
    [BestEffortOrder::Fifo, BestEffortOrder::Elevator, BestEffortOrder::Satf];

/// The real-time tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tasks {
    One,
    /// Four tasks whose releases are spread over the period.
    FourApart,
    /// Four tasks that release together.
    FourAtOnce,
}

impl Tasks {
    const fn count(self) -> u32 {
        match self {
            Self::One => 1,
            Self::FourApart | Self::FourAtOnce => 4,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::One => "1 x ",
            Self::FourApart => "4 apart x ",
            Self::FourAtOnce => "4 at once x ",
        }
    }
}

/// The results of one policy in one order, over all seeds.
struct Cell {
    throughput_bytes_per_s: u64,
    misses: u64,
    overruns: u64,
    overrun_sum: Duration,
    is_proven: bool,
    is_exceeded: bool,
}

fn main() {
    let jobs = std::env::args().nth(1).map_or(400, |jobs| jobs.parse().expect("a number"));
    println!(
        "| tasks x deadline | outstanding | policy | fifo | elevator | oracle | misses | overruns |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for tasks in [Tasks::One, Tasks::FourApart, Tasks::FourAtOnce] {
        for deadline_ms in [160, 75, 30] {
            for outstanding in [64, 450] {
                rows(tasks, deadline_ms, outstanding, jobs);
            }
        }
    }
}

/// Prints a row for each policy that proves the deadline.
fn rows(tasks: Tasks, deadline_ms: u64, outstanding: u32, jobs: u64) {
    let of = |policy, order| cell(policy, order, tasks, deadline_ms, outstanding, jobs);
    let unlimited = of(PolicyName::Rtio, BestEffortOrder::Fifo).throughput_bytes_per_s;
    for policy in POLICIES {
        let cells = ORDERS.map(|order| of(policy, order));
        if !cells.iter().all(|cell| cell.is_proven) {
            continue;
        }
        let shares = cells.each_ref().map(|cell| permille(cell.throughput_bytes_per_s, unlimited));
        let misses: Vec<String> = cells.iter().map(|cell| cell.misses.to_string()).collect();
        let overruns =
            cells.each_ref().map(|cell| format!("{} ({})", cell.overruns, cell.overrun_sum));
        assert!(cells.iter().all(|cell| !cell.is_exceeded), "{policy} at {deadline_ms} ms");
        println!(
            "| {}{deadline_ms} ms | {outstanding} | `{policy}` | {} | {} | {} | {} | {} |",
            tasks.text(),
            shares[0],
            shares[1],
            shares[2],
            misses.join(" / "),
            overruns.join(" / ")
        );
    }
}

fn cell(
    policy: PolicyName,
    order: BestEffortOrder,
    tasks: Tasks,
    deadline_ms: u64,
    outstanding: u32,
    jobs: u64,
) -> Cell {
    let run = |seed| {
        let experiment = experiment(Duration::from_ms(deadline_ms), tasks.count());
        let mut disk = Disk { drive_seed: seed, seed, ..experiment };
        if tasks == Tasks::FourAtOnce {
            disk.workload.tasks.iter_mut().for_each(|task| task.offset = Duration::ZERO);
        }
        disk.workload.best_effort_order = Some(order);
        disk.workload.best_effort[0].intensity = Intensity::Outstanding(outstanding);
        disk.outcome(policy, jobs)
    };
    let outcomes: Vec<Outcome> = SEEDS.into_iter().map(run).collect();
    let mean = outcomes.iter().map(|it| it.throughput_bytes_per_s).sum::<u64>() / 5;
    Cell {
        throughput_bytes_per_s: mean,
        misses: outcomes.iter().map(|it| it.misses).sum(),
        overruns: outcomes.iter().map(|it| it.overruns).sum(),
        overrun_sum: outcomes.iter().fold(Duration::ZERO, |sum, it| sum + it.overrun_sum),
        is_proven: outcomes.iter().all(|it| it.assessment.answer == Answer::Proven),
        is_exceeded: outcomes.iter().any(|it| it.excess().is_some()),
    }
}

/// Formats a share with one decimal.
fn permille(part: u64, whole: u64) -> String {
    let permille = part * 1_000 / whole;
    format!("{}.{} %", permille / 10, permille % 10)
}
