// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests that the dynamic active subset keeps the bounds of the analysis, on a drive that takes any
//! time up to its estimate plus the margin, and on a simulated disk; and that it gains throughput:
//! the experiments of RTAS 2008, sections 3.3 and 3.4, with this policy.

use std::collections::HashMap;

use rand::RngExt;
use tidegate_analysis::{Answer, assess};
use tidegate_drive::{Drive, builtin};
use tidegate_model::parameters::DasParameters;
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{
    AccessTime, BatchTable, BestEffort, Bytes, DriveFile, DriveKind, Duration, Intensity, Plan,
    PolicyName, RegulatorName, Request, Task, TaskIndex, Time, Workload,
};
use tidegate_policy::{Das, Noop, Policy};
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{BatchWatch, Length, Observer, Releases, SimParams, SimRun, simulate};
use tidegate_soundness::estimates::{Erring, EstimatedDrive, Estimates};
use tidegate_soundness::generate;

const SEED: u64 = 20_261_123;
const SYSTEMS: u64 = 300;
const JOBS: u64 = 60;
const SIZE: Bytes = Bytes::from_kib(256);

fn task(entry: u32, requests: u32, (period, deadline): (Duration, Duration)) -> Task {
    Task { entry, deadline, requests, ..Task::periodic(format!("task-{entry}"), period, SIZE) }
}

fn load(outstanding: u32) -> BestEffort {
    BestEffort::reads("load", Intensity::Outstanding(outstanding), SIZE)
}

/// A random system at or near the limit of the admission test, with endless best effort.
struct Trial {
    number: u64,
    workload: Workload,
    releases: Releases,
    service_max: Duration,
    /// The most by which the drive may exceed the estimate.
    error_max: Duration,
}

impl Trial {
    fn new(number: u64) -> Self {
        let random = &mut generate::generator(SEED, number);
        let service_ns: u64 = random.random_range(1_000_000..20_000_000);
        let requests: Vec<u32> =
            (0..random.random_range(1..=5)).map(|_| random.random_range(1..=2)).collect();
        let total_ns = u64::from(requests.iter().sum::<u32>()) * service_ns;
        let tasks = (0..).zip(&requests).map(|(entry, &requests)| {
            let deadline_ns = total_ns + random.random_range(0..=total_ns) / 2;
            let extra_ns = if random.random_bool(0.5) { 0 } else { total_ns };
            let period_ns = deadline_ns + random.random_range(0..=extra_ns);
            let times = (Duration::from_ns(period_ns), Duration::from_ns(deadline_ns));
            let offset = Duration::from_ns(random.random_range(0..=deadline_ns));
            Task { offset, ..task(entry, requests, times) }
        });
        let tasks: Vec<Task> = tasks.collect();
        let service_max = Duration::from_ns(service_ns);
        let error_max = Duration::from_ns(service_ns / random.random_range(2..10));
        let table = BatchTable::new(&[service_max]).expect("not zero");
        let best_effort = vec![load(random.random_range(1..=20))];
        let mut workload = Workload { tasks, best_effort, ..Workload::new("random", 1, table) };
        workload.contracts.are_positions_known = true;
        let extra_max = Duration::from_ns(random.random_range(0..=total_ns));
        let releases = match number % 3 {
            0 => Releases::Periodic,
            _ => Releases::Sporadic { extra_max },
        };
        Self { number, workload, releases, service_max, error_max }
    }

    fn estimates(&self) -> Estimates {
        Estimates { seed: self.number, service_max: self.service_max }
    }

    fn plan(&self, margin: Duration) -> Plan {
        let mut plan = assess(&self.workload, PolicyName::Das).plan(&self.workload);
        plan.parameters.das = DasParameters { margin };
        plan
    }

    fn run(&self, policy: impl Policy, observer: &mut impl Observer) -> SimRun {
        let drive = EstimatedDrive::new(self.estimates(), self.error_max);
        let params = SimParams {
            releases: self.releases,
            seed: self.number,
            ..SimParams::new(&self.workload, Length::Jobs(JOBS))
        };
        simulate(&params, policy, drive, observer)
    }

    /// Returns the misses under a policy with this plan.
    fn misses(&self, plan: &Plan) -> u64 {
        misses(&self.run(Das::new(plan, Box::new(self.estimates())), &mut ()))
    }
}

fn misses(run: &SimRun) -> u64 {
    run.metrics.tasks().iter().map(|task| task.misses).sum()
}

/// Goal: a workload that the analysis admits misses no deadline for any allowed behaviour of the
/// drive, and keeps every other rule; best effort is served too.
#[test]
fn admitted_workloads_miss_nothing() {
    let mut best_effort = 0;
    for trial in (0..SYSTEMS).map(Trial::new) {
        let assessment = assess(&trial.workload, PolicyName::Das);
        assert_eq!(assessment.answer, Answer::Proven, "{:#?}", trial.workload);
        let plan = trial.plan(trial.error_max);
        let mut checkers = Checkers::of_policy(PolicyName::Das, &plan);
        let run = trial.run(Das::new(&plan, Box::new(trial.estimates())), &mut checkers);
        assert_eq!(checkers.violations(), [], "system {}", trial.number);
        for (task, promise) in run.metrics.tasks().iter().zip(&assessment.tasks) {
            let (bound, _) = promise.response_max.expect("it is proven");
            let response = task.responses.max().expect("it ran");
            assert!(response <= bound, "system {}: {response} {bound}", trial.number);
        }
        best_effort += run.metrics.best_effort().completed.requests;
    }
    assert!(best_effort > SYSTEMS * JOBS, "{best_effort}: the gate is hardly ever open");
}

/// Asserts that some system misses a deadline with the broken plan.
fn assert_caught(name: &str, broken: impl Fn(&Trial) -> Plan) {
    let caught = (0..SYSTEMS).map(Trial::new).find(|trial| trial.misses(&broken(trial)) > 0);
    let Some(trial) = caught else { panic!("`{name}` survived {SYSTEMS} systems") };
    println!("`{name}` caught by system {}", trial.number);
}

/// Canary: the model's error exceeds the margin.
#[test]
fn margin_that_is_too_small_is_caught() {
    assert_caught("no margin", |trial| trial.plan(Duration::ZERO));
}

/// Canary: a policy that does not know the tasks keeps no room for their next jobs.
#[test]
fn no_room_for_jobs_to_come_is_caught() {
    assert_caught("no jobs to come", |trial| Plan {
        tasks: Vec::new(),
        ..trial.plan(trial.error_max)
    });
}

/// Canary: a fallback time that is shorter than the drive's.
#[test]
fn fallback_that_is_too_fast_is_caught() {
    assert_caught("C too small", |trial| {
        let faster = Duration::from_ns(trial.service_max.ns() * 3 / 4);
        let table = BatchTable::new(&[faster]).expect("not zero");
        Plan { table, ..trial.plan(trial.error_max) }
    });
}

/// Returns the Fujitsu drive with these tasks and this much best effort.
fn fujitsu(tasks: Vec<Task>, outstanding: u32) -> (DriveFile, Workload) {
    let file = builtin::load("fujitsu-max3036rc").expect("a built-in drive");
    let text = "drive = \"fujitsu-max3036rc\"\n[[best_effort]]\nname = \"load\"\nsize = \"256KiB\"\n\
                outstanding = 1\n";
    let parsed = WorkloadFile::parse(text).expect("a valid file");
    let bound = parsed.bind(&file).expect("the drive was measured for it");
    let workload = Workload { tasks, best_effort: vec![load(outstanding)], ..bound };
    (file, workload)
}

fn mechanical(
    (file, workload): &(DriveFile, Workload),
    policy: impl Policy,
    length: Length,
    observer: &mut impl Observer,
) -> SimRun {
    let drive: Box<dyn Drive + Send> =
        tidegate_drive::from_parts(DriveKind::Mechanical, file, 1).expect("a sound file");
    let capacity = file.capacity().expect("it has mechanics");
    let params = SimParams { capacity, seed: 3, ..SimParams::new(workload, length) };
    simulate(&params, policy, drive, observer)
}

fn access(file: &DriveFile) -> Box<dyn AccessTime> {
    tidegate_drive::access_time(file).expect("it has mechanics")
}

fn das(system: &(DriveFile, Workload)) -> Das {
    Das::new(&Plan::of(&system.1), access(&system.0))
}

/// Goal: the same on a disk, whose model is exact to the nanosecond: tasks at the very limit of the
/// admission test.
#[test]
fn disk_that_keeps_its_table_misses_nothing() {
    for (count, outstanding) in [(1, 40), (3, 8), (3, 60)] {
        let c = fujitsu(Vec::new(), 1).1.table.time_max(1);
        let at_the_edge = Duration::from_ns(c.ns() * u64::from(count));
        let tasks = (0..count).map(|entry| Task {
            offset: Duration::from_ms(u64::from(entry) * 7),
            ..task(entry, 1, (at_the_edge, at_the_edge))
        });
        let system = fujitsu(tasks.collect(), outstanding);
        assert_eq!(assess(&system.1, PolicyName::Das).answer, Answer::Proven);
        let mut watch = BatchWatch::new(system.1.table.clone());
        let run = mechanical(&system, das(&system), Length::Jobs(200), &mut watch);
        assert!(watch.overruns > 0 || misses(&run) == 0, "{count} tasks, {outstanding} others");
        println!("{count} tasks: {} of best effort", run.metrics.best_effort().completed.requests);
    }
}

/// Returns the total throughput in kB/s.
fn total_kb(run: &SimRun) -> u64 {
    run.metrics.all().throughput_bytes_per_s().expect("something was served") / 1_000
}

/// Returns one task of 256 KiB per period beside 450 random best-effort reads of the same size in
/// flight or queued.
fn one_reader(period_ms: u64) -> (DriveFile, Workload) {
    let period = Duration::from_ms(period_ms);
    fujitsu(vec![task(0, 1, (period, period))], 450)
}

const EXPERIMENT: Length = Length::Duration(Duration::from_ms(12_000));

/// Goal: deadlines cost nearly no throughput. The reference is the disk alone with its queue of 20,
/// which uses neither deadlines nor the rotational position.
#[test]
fn one_reader_and_the_disk_at_full_speed() {
    for (period_ms, percent) in [(30, 110), (50, 120), (75, 120), (160, 130)] {
        let system = one_reader(period_ms);
        let noop = mechanical(&system, Noop::new(20, 1_000), EXPERIMENT, &mut ());
        let run = mechanical(&system, das(&system), EXPERIMENT, &mut ());
        println!(
            "{period_ms} ms: das {} kB/s with {} misses, noop {} kB/s with {} misses",
            total_kb(&run),
            misses(&run),
            total_kb(&noop),
            misses(&noop),
        );
        assert_eq!(misses(&run), 0, "{period_ms} ms");
        assert!(total_kb(&run) * 100 >= total_kb(&noop) * percent, "{period_ms} ms");
    }
}

/// Goal: a model with an error of up to one millisecond, with a margin of one millisecond, still
/// gives 95 % of the disk's own rate, without a miss.
#[test]
fn model_that_errs_costs_little_where_the_margin_covers_it() {
    let error_max = Duration::from_ms(1);
    let (file, mut workload) = one_reader(75);
    workload.parameters.das = DasParameters { margin: error_max };
    let model = Erring { model: access(&file), error_max, now: Time::ZERO };
    let policy = Das::new(&Plan::of(&workload), Box::new(model));
    let system = (file, workload);
    let run = mechanical(&system, policy, EXPERIMENT, &mut ());
    let noop = mechanical(&system, Noop::new(20, 1_000), EXPERIMENT, &mut ());
    println!("erring das {} kB/s, noop {} kB/s", total_kb(&run), total_kb(&noop));
    assert_eq!(misses(&run), 0);
    assert!(total_kb(&run) * 100 >= total_kb(&noop) * 95);
}

/// Counts the dropped jobs of each task.
struct Quality {
    /// The share of requests that may be dropped, in parts per million.
    droppable: u64,
    /// Released and dropped jobs.
    jobs: HashMap<TaskIndex, (u64, u64)>,
    dropped: u64,
}

impl Observer for Quality {
    fn released(&mut self, _now: Time, request: &Request) {
        if request.due.is_some() {
            self.jobs.entry(request.task).or_default().0 += 1;
        }
    }
    fn dropped(&mut self, _now: Time, request: &Request) {
        let (released, dropped) = self.jobs.get_mut(&request.task).expect("it was released");
        *dropped += 1;
        self.dropped += 1;
        assert!(*dropped * 1_000_000 <= *released * self.droppable);
    }
}

/// Goal: in an overload, dropping optional requests serves more of the others: fewer misses and
/// more best effort. The share holds at every instant.
#[test]
fn quality_below_all_serves_an_overload_better() {
    let period = Duration::from_ms(75);
    let run = |quality_ppm: u32| {
        let tasks = (0..11).map(|entry| Task {
            quality_ppm,
            offset: Duration::from_ms(u64::from(entry) * 6),
            ..task(entry, 1, (period, period))
        });
        let system = fujitsu(tasks.collect(), 60);
        let droppable = u64::from(1_000_000 - quality_ppm);
        let mut quality = Quality { droppable, jobs: HashMap::new(), dropped: 0 };
        let run = mechanical(&system, das(&system), Length::Jobs(200), &mut quality);
        let best_effort = run.metrics.best_effort().completed.requests;
        println!("{quality_ppm}: {} misses, {best_effort}, {}", misses(&run), quality.dropped);
        (misses(&run), best_effort, quality.dropped)
    };
    let (all, some) = (run(1_000_000), run(500_000));
    assert!(all.2 == 0 && some.2 > 0);
    assert!(some.0 * 10 < all.0, "{some:?} {all:?}");
    assert!(some.1 >= all.1, "{some:?} {all:?}");
}

/// Returns the plan of the trial's workload behind these regulators.
fn plan_behind(trial: &Trial, regulators: Vec<RegulatorName>) -> Plan {
    let plan = trial.plan(trial.error_max);
    Plan { regulators, ..plan }
}

/// Runs the trial with one task that exceeds its contract. Returns the largest excess of any other
/// task's longest response over its deadline.
fn excess_beside_a_culprit(trial: &Trial, policy: impl Policy) -> Option<Duration> {
    let random = &mut generate::generator(SEED + 7, trial.number);
    let culprit = random.random_range(0..trial.workload.tasks.len());
    let mut deeds = trial.workload.clone();
    let task = &mut deeds.tasks[culprit];
    // Single requests drift apart permanently, because tokens return at the times of their use.
    let is_torn = random.random_bool(0.5);
    task.requests = if is_torn { 1 } else { task.requests + random.random_range(0..=6) };
    task.period = Duration::from_ns(task.period.ns() * 10 / random.random_range(10..=50));
    let period_max = trial.workload.tasks.iter().map(|task| task.period).max()?;
    let defaults = SimParams::new(&deeds, Length::Duration(period_max * JOBS));
    let params = SimParams { releases: trial.releases, seed: trial.number, ..defaults };
    let drive = EstimatedDrive::new(trial.estimates(), trial.error_max);
    let run = simulate(&params, policy, drive, &mut ());
    let others = run.metrics.tasks().iter().zip(&trial.workload.tasks).enumerate();
    let others = others.filter(|&(index, _)| index != culprit).map(|(_, other)| other);
    let excess = others.filter_map(|(metrics, task)| {
        let excess = metrics.responses.max()?.checked_sub(task.deadline)?;
        (!excess.is_zero()).then_some(excess)
    });
    excess.max()
}

/// Goal: behind tokens, jobs of several requests are proven, and the other tasks' deadlines are
/// kept for every behaviour of one task.
#[test]
fn others_keep_their_deadlines_behind_tokens_whatever_one_task_does() {
    let mut torn_apart = 0;
    for trial in (0..SYSTEMS).map(Trial::new) {
        let regulators = vec![RegulatorName::TokensPerTask];
        let workload = Workload { regulators: regulators.clone(), ..trial.workload.clone() };
        let assessment = assess(&workload, PolicyName::Das);
        assert_eq!(assessment.answer, Answer::Proven, "{workload:#?}");
        torn_apart += u64::from(workload.tasks.iter().any(|task| task.requests > 1));
        let plan = plan_behind(&trial, regulators);
        let access: Box<dyn AccessTime> = Box::new(trial.estimates());
        let policy =
            tidegate_policy::build(PolicyName::Das, &plan, Some(access)).expect("all is known");
        let excess = excess_beside_a_culprit(&trial, policy);
        assert_eq!(excess, None, "system {}: {:#?}", trial.number, trial.workload);
    }
    assert!(torn_apart * 2 > SYSTEMS, "only {torn_apart} systems have larger jobs");
}

#[test]
fn victims_of_das_without_tokens_are_caught() {
    let has_victim = |trial: &Trial| {
        let policy = Das::new(&plan_behind(trial, Vec::new()), Box::new(trial.estimates()));
        excess_beside_a_culprit(trial, policy).is_some()
    };
    let count = (0..SYSTEMS).map(Trial::new).filter(has_victim).count();
    println!("das without tokens: a victim in {count} of {SYSTEMS}");
    assert!(count > 30);
}
