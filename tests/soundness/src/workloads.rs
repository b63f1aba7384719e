// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Random workloads for the simulator, with times in arbitrary nanoseconds: more tasks and larger
//! batches than any search could cover, released periodically with offsets or sporadically.

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_drive::{BatchTimes, Mix, SpacedDrive};
use tidegate_model::{
    Arrivals, Bandwidth, BatchChoice, BatchTable, BestEffort, Bytes, DispatchMode, Duration,
    Intensity, PolicyName, Task, Workload,
};

/// Size of every request, because these batch tables hold for one size.
pub const SIZE: Bytes = Bytes::from_kib(4);
/// The largest batch.
const BATCH_MAX: u32 = 16;

/// The best effort of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// No best effort.
    None,
    /// A closed loop.
    Outstanding,
    /// An open loop.
    Rate,
    /// One closed and one open loop.
    Both,
    /// Jobs of several requests, with and without a limit of outstanding jobs. Some of these loads
    /// start late or stop early.
    Streams,
}

impl Load {
    /// All variants.
    pub const ALL: [Self; 5] =
        [Self::None, Self::Outstanding, Self::Rate, Self::Both, Self::Streams];

    /// Returns the variants in turn, by number.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn numbered(number: u64) -> Self {
        Self::ALL[usize::try_from(number % 5).expect("below 5")]
    }
}

/// Returns a random workload whose tasks use from about a tenth to all of the drive's capacity
/// under the policy; z is fixed or left to the analysis.
#[must_use]
pub fn workload(random: &mut Pcg64, policy: PolicyName, load: Load) -> Workload {
    let table = table(random);
    let depth = table.batch_max();
    let task_count: u32 = random.random_range(1..=12);
    let requests_max = if random.random_bool(0.6) { 1 } else { 3 };
    let requests: Vec<u32> =
        (0..task_count).map(|_| random.random_range(1..=requests_max)).collect();
    // Each task uses roughly an equal share of the capacity, or all have one period.
    let capacity_percent: u64 = random.random_range(10..=100);
    let batch = if policy.facts().dispatch == DispatchMode::OneAtATime { 1 } else { depth };
    let request_ns = table.time_max(batch).ns() / u64::from(batch);
    let share_ns = request_ns * u64::from(task_count) * 100 / capacity_percent;
    let is_alike = random.random_bool(0.4);
    let alike_ns = share_ns * u64::from(requests.iter().sum::<u32>()) / u64::from(task_count);
    let mut tasks = Vec::new();
    for (entry, &requests) in (0..).zip(&requests) {
        let own_ns = share_ns * u64::from(requests) * random.random_range(50..=200) / 100;
        let period = Duration::from_ns(if is_alike { alike_ns } else { own_ns }.max(1));
        let offset = offset(random, period, &table);
        tasks.push(Task { offset, ..task(entry, period, requests) });
    }
    let batch = if random.random_bool(0.3) {
        BatchChoice::Auto
    } else {
        BatchChoice::Fixed(random.random_range(1..=depth))
    };
    let best_effort = loads(random, load, request_ns);
    if load == Load::Streams {
        stop_some(random, &mut tasks);
    }
    Workload { tasks, best_effort, policy, batch, ..Workload::new("random", depth, table) }
}

/// Gives every task a random deadline between a third of its period and twice its period.
pub fn give_random_deadlines(random: &mut Pcg64, workload: &mut Workload) {
    for task in &mut workload.tasks {
        let period_ns = task.period.ns();
        let deadline_ns = random.random_range(period_ns.div_ceil(3)..=2 * period_ns);
        task.deadline = Duration::from_ns(deadline_ns);
    }
}

/// Gives `scan-edf` windows of deadlines, up to half as wide as the shortest deadline.
///
/// # Panics
/// If there is no task.
pub fn give_random_windows(random: &mut Pcg64, workload: &mut Workload) {
    let deadlines = workload.tasks.iter().map(|task| task.deadline.ns());
    let shortest = deadlines.min().expect("a workload has a task");
    let width = random.random_range(1..=shortest / 2);
    workload.parameters.scan_edf.window = Duration::from_ns(width);
}

/// Keeps the tasks, in order, that release at most `room` requests together; if none fits, keeps
/// one task of one request.
pub fn keep_what_fits(workload: &mut Workload, mut room: u32) {
    workload.tasks.retain(|task| {
        let fits = task.requests <= room;
        room -= if fits { task.requests } else { 0 };
        fits
    });
    if workload.tasks.is_empty() {
        let period = workload.table.time_max(1);
        workload.tasks.push(task(0, period, 1));
    }
}

/// Gives every task a period, which is also its deadline, of `tightest_ns` or somewhat more.
pub fn release_about_every(random: &mut Pcg64, workload: &mut Workload, tightest_ns: u64) {
    for task in &mut workload.tasks {
        let slack_ns = match random.random_range(0..4) {
            0 => 0,
            1 => 1,
            _ => random.random_range(0..=tightest_ns * 2),
        };
        let period = Duration::from_ns(tightest_ns + slack_ns);
        (task.period, task.deadline) = (period, period);
        task.offset = Duration::from_ns(task.offset.ns() % period.ns());
    }
}

/// Returns periodic releases, or sporadic ones with delays up to half the mean period.
#[must_use]
pub fn releases(random: &mut Pcg64, workload: &Workload) -> Arrivals {
    let period_ns: u64 = workload.tasks.iter().map(|task| task.period.ns()).sum();
    match random.random_range(0..3) {
        0 => Arrivals::Periodic,
        kind => Arrivals::Sporadic {
            extra_max: Duration::from_ns(match kind {
                1 => period_ns / workload.tasks.len() as u64 / 2,
                // With a small delay the offsets drift slowly, so that a run meets many patterns of
                // releases.
                _ => 1_000,
            }),
        },
    }
}

/// Returns a hard task of random reads whose deadline is its period.
fn task(entry: u32, period: Duration, requests: u32) -> Task {
    Task { entry, requests, ..Task::periodic(format!("task-{entry}"), period, SIZE) }
}

/// Returns an offset: together with many others, just after a batch was sent, or anywhere in the
/// period.
fn offset(random: &mut Pcg64, period: Duration, table: &BatchTable) -> Duration {
    let just_after = |random: &mut Pcg64| {
        let requests = random.random_range(0..=table.batch_max());
        table.time_max(requests) + Duration::from_ns(1)
    };
    match random.random_range(0..4) {
        0 => Duration::ZERO,
        1 => Duration::from_ns(1),
        2 => just_after(random),
        _ => Duration::from_ns(random.random_range(0..period.ns())),
    }
}

/// Returns a table in arbitrary nanoseconds: affine, concave or only monotone.
fn table(random: &mut Pcg64) -> BatchTable {
    let batch_max = random.random_range(1..=BATCH_MAX);
    let first: u64 = random.random_range(1_000..20_000_000);
    let slope = random.random_range(0..=first);
    let kind = random.random_range(0..3);
    let (mut time, mut step) = (first, first);
    let mut times = vec![Duration::from_ns(time)];
    for _ in 1..batch_max {
        step = match kind {
            0 => slope,
            1 => random.random_range(0..=step),
            _ => random.random_range(0..=first),
        };
        time += step;
        times.push(Duration::from_ns(time));
    }
    BatchTable::new(&times).expect("no entry is zero")
}

fn loads(random: &mut Pcg64, load: Load, request_ns: u64) -> Vec<BestEffort> {
    let outstanding = Intensity::Outstanding(random.random_range(1..=60));
    // Best effort demands from nearly none to more of the capacity than the tasks leave.
    let percent = random.random_range(2..=60);
    let bytes_per_s = SIZE.get() * 1_000_000_000 / request_ns.max(1) * percent / 100;
    let rate = Intensity::Rate(Bandwidth::new(bytes_per_s.max(1)).expect("not zero"));
    let intensities = match load {
        Load::None => vec![],
        Load::Outstanding => vec![outstanding],
        Load::Rate => vec![rate],
        Load::Both => vec![outstanding, rate],
        Load::Streams => {
            let limits = [None, Some(random.random_range(1..=4))];
            limits.map(|limit| stream(random, request_ns * 100 / percent, limit)).to_vec()
        }
    };
    let named = |(index, intensity): (usize, Intensity)| {
        BestEffort::reads(format!("load-{index}"), intensity, SIZE)
    };
    let mut loads: Vec<BestEffort> = intensities.into_iter().enumerate().map(named).collect();
    if load == Load::Streams {
        for load in &mut loads {
            live_for_a_while(random, load, request_ns);
        }
    }
    loads
}

/// Returns a stream that releases a request every `each_ns` on average.
fn stream(random: &mut Pcg64, each_ns: u64, outstanding: Option<u32>) -> Intensity {
    let requests = random.random_range(1..=4);
    let period = Duration::from_ns((each_ns * u64::from(requests)).max(1));
    Intensity::Stream { period, requests, outstanding }
}

/// Lets half of the loads start late, and half of them stop early.
fn live_for_a_while(random: &mut Pcg64, load: &mut BestEffort, request_ns: u64) {
    let a_while =
        |random: &mut Pcg64| Duration::from_ns(random.random_range(1..=40 * request_ns.max(1)));
    if random.random_bool(0.5) {
        load.start = a_while(random);
    }
    load.stop = random.random_bool(0.5).then(|| load.start + a_while(random));
}

/// Lets a quarter of the tasks stop after a few periods.
fn stop_some(random: &mut Pcg64, tasks: &mut [Task]) {
    for task in tasks {
        let periods = random.random_range(1..=20);
        let stop = task.offset.checked_add(task.period * periods);
        task.stop = stop.filter(|_| random.random_bool(0.25));
    }
}

/// Batch times that keep a table without exhausting it: any time from 1 ns to b(n).
#[derive(Debug, Clone)]
pub struct Varying(BatchTable);

/// Returns a drive whose batches of n requests take any time up to b(n).
///
/// # Panics
/// If `depth` is 0.
#[must_use]
pub fn varying_drive(depth: u32, table: BatchTable, seed: u64) -> SpacedDrive<Varying> {
    SpacedDrive::with_times(depth, Varying(table), seed)
}

impl BatchTimes for Varying {
    fn batch_max(&self) -> u32 {
        self.0.batch_max()
    }

    fn batch_time(&self, mix: Mix, draw: u64) -> Duration {
        let longest = self.0.time_max(mix.total()).ns();
        // Half of the batches take their longest time.
        let is_longest = draw.is_multiple_of(2);
        Duration::from_ns(if is_longest { longest } else { draw % longest + 1 })
    }
}
