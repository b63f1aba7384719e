// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints the effect of the depth of best effort on built-in disks: throughput of best effort and
//! response times of the tasks, with the largest proven depth and with `best_effort_depth =
//! "auto"`, wherever the two depths differ.
//!
//! ```text
//! cargo run --release -p tidegate-soundness --example depths -- 400
//! ```

use tidegate_analysis::{Answer, assess};
use tidegate_model::{DepthChoice, DispatchMode, Duration, PolicyName};
use tidegate_sim::{Length, SourceMetrics};
use tidegate_soundness::disk::Disk;

const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];
const DISKS: [(&str, &str); 3] =
    [("fujitsu-max3036rc", "256KiB"), ("nearline-7200", "128KiB"), ("ibm-36z15", "128KiB")];
const TASKS: [(u32, u64); 3] = [(1, 160), (1, 75), (4, 160)];
const POLICIES: [PolicyName; 4] =
    [PolicyName::Dqf, PolicyName::RtioLimit, PolicyName::AdaptiveDrain, PolicyName::GatedDrain];

/// The results of one policy at one depth, over all seeds.
struct Cell {
    depth: u32,
    best_effort_bytes_per_s: u64,
    mean: Duration,
    max: Duration,
    bound: Duration,
}

fn main() {
    let jobs = std::env::args().nth(1).map_or(400, |jobs| jobs.parse().expect("a number"));
    println!(
        "| disk | tasks x period | outstanding | policy | depth | best effort, MB/s | mean, ms | \
         longest, ms | bound, ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (drive, size) in DISKS {
        for (count, period_ms) in TASKS {
            for outstanding in [64, 256] {
                for policy in POLICIES {
                    let disk = disk(drive, size, count, period_ms, outstanding);
                    let Some(cells) = row(&disk, policy, jobs) else { continue };
                    println!(
                        "| `{drive}` | {count} x {period_ms} ms | {outstanding} | `{policy}` | {cells} |"
                    );
                }
            }
        }
    }
}

fn disk(drive: &str, size: &str, count: u32, period_ms: u64, outstanding: u32) -> Disk {
    let step_us = period_ms * 1_000 / u64::from(count);
    let sources = format!(
        "absent_places = [\"both_ends\", \"clusters\", \"track\", \"sequential\", \"climbed\"]\n\
         [[task]]\nname = \"t\"\ncount = {count}\nperiod = \"{period_ms}ms\"\nsize = \"{size}\"\n\
         offset = {{ step = \"{step_us}us\" }}\n\
         [[best_effort]]\nname = \"b\"\noutstanding = {outstanding}\nsize = \"{size}\"\n"
    );
    Disk::new(drive, &sources)
}

/// Returns the cells of both depths; `None` if the deadlines are not proven, or if the depths are
/// equal.
fn row(disk: &Disk, policy: PolicyName, jobs: u64) -> Option<String> {
    let cells = [DepthChoice::Proven, DepthChoice::Auto]
        .map(|choice| cell(disk, policy, choice, jobs))
        .into_iter()
        .collect::<Option<Vec<_>>>()?;
    if cells[0].depth == cells[1].depth {
        return None;
    }
    let both = |text: fn(&Cell) -> String| cells.iter().map(text).collect::<Vec<_>>().join(" / ");
    Some(
        [
            both(|cell| cell.depth.to_string()),
            both(|cell| tenths(cell.best_effort_bytes_per_s, 1_000_000)),
            both(|cell| ms(cell.mean)),
            both(|cell| ms(cell.max)),
            both(|cell| ms(cell.bound)),
        ]
        .join(" | "),
    )
}

fn cell(disk: &Disk, policy: PolicyName, choice: DepthChoice, jobs: u64) -> Option<Cell> {
    let mut disk = disk.clone();
    disk.workload.best_effort_depth = choice;
    let assessment = assess(&disk.workload, policy);
    if assessment.answer != Answer::Proven {
        return None;
    }
    let depth = match policy.facts().dispatch {
        DispatchMode::Batches => assessment.best_effort_fill,
        DispatchMode::BestEffortDepth => assessment.best_effort_depth,
        DispatchMode::OneAtATime | DispatchMode::UpToDepth => 1,
    };
    let plan = assessment.plan(&disk.workload);
    let bounds = assessment.tasks.iter().filter_map(|task| Some(task.response_max?.0));
    let bound = bounds.max().expect("proven");
    let (mut rate, mut sum_ns, mut jobs_seen, mut max) = (0, 0, 0, Duration::ZERO);
    for seed in SEEDS {
        let disk = Disk { drive_seed: seed, seed, ..disk.clone() };
        let built = tidegate_policy::build(policy, &plan, None).expect("it needs no more");
        let run = disk.run(built, Length::Jobs(jobs), &mut ());
        rate += run.metrics.best_effort().throughput_bytes_per_s().expect("some time") / 5;
        for task in run.metrics.tasks() {
            let seen = SourceMetrics::jobs(task);
            sum_ns += task.responses.mean().expect("jobs").ns() * seen;
            jobs_seen += seen;
            max = max.max(task.responses.max().expect("jobs"));
            assert_eq!(task.misses, 0, "{policy}");
        }
    }
    let mean = Duration::from_ns(sum_ns / jobs_seen);
    Some(Cell { depth, best_effort_bytes_per_s: rate, mean, max, bound })
}

fn ms(time: Duration) -> String {
    tenths(time.ns(), 1_000_000)
}

/// Formats a quotient with one decimal, rounded up.
fn tenths(value: u64, unit: u64) -> String {
    let tenths = (value * 10).div_ceil(unit);
    format!("{}.{}", tenths / 10, tenths % 10)
}
