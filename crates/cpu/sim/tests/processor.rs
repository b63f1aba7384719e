// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the simulated processor with a simple one that proceeds tick by tick, and its costs
//! with figures computed by hand. A tick is a microsecond.

use tidegate_cpu_model::{
    Arrivals, Background, CpuProfile, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution,
    InterferenceBound, Priority, Scheduling, ServerKind, ServerParams, TaskArrivals,
};
use tidegate_cpu_sim::{
    CpuObserver, CpuParams, CpuRun, Disturbance, StolenTime, Thread, Timing, simulate,
};
use tidegate_model::{Duration, Random, Time};

const fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

fn run(workload: &CpuWorkload, ticks: u64) -> CpuRun {
    simulate(&CpuParams::new(workload, us(ticks), 1), &mut ())
}

fn task(name: &str, execution: u64, period: u64, priority: u32) -> CpuTask {
    CpuTask::new(name, us(execution), us(period), Priority(priority))
}

fn response_max(run: &CpuRun, task: usize) -> Option<u64> {
    run.tasks[task].responses.max().map(|response| response.ns() / 1_000)
}

/// Draws tasks with distinct priorities, offsets, and distinct deadlines.
fn random_tasks(random: &mut Random, scheduling: Scheduling) -> CpuWorkload {
    let mut workload = CpuWorkload::new(scheduling);
    for number in 0..=u32::try_from(random.below(4)).unwrap() {
        let period = 4 + random.below(30);
        let execution = 1 + random.below(period / 3);
        let offset = random.below(20);
        workload.tasks.push(CpuTask {
            offset: us(offset),
            deadline: us(period * 2) + Duration::from_ns(u64::from(number)),
            ..task(&format!("task {number}"), execution, period, number)
        });
    }
    workload
}

/// Returns the longest response of each task from a simple scheduler that proceeds tick by tick.
fn by_ticks(workload: &CpuWorkload, ticks: u64) -> Vec<Option<u64>> {
    let mut jobs: Vec<(usize, u64, u64)> = Vec::new();
    let mut longest = vec![None; workload.tasks.len()];
    let in_ticks = |time: Duration| time.ns() / 1_000;
    for now in 0..ticks {
        for (index, task) in workload.tasks.iter().enumerate() {
            let (offset, period) = (in_ticks(task.offset), in_ticks(task.period));
            if now >= offset && (now - offset).is_multiple_of(period) {
                jobs.push((index, now, in_ticks(task.execution)));
            }
        }
        let urgency = |&(index, arrival, _): &(usize, u64, u64)| {
            let task = &workload.tasks[index];
            match workload.scheduling {
                Scheduling::FixedPriority => (u64::MAX - u64::from(task.priority.0), arrival),
                Scheduling::Edf => (arrival * 1_000 + task.deadline.ns(), arrival),
            }
        };
        let Some(first) = (0..jobs.len()).min_by_key(|&job| urgency(&jobs[job])) else { continue };
        jobs[first].2 -= 1;
        if jobs[first].2 == 0 {
            let (index, arrival, _) = jobs.remove(first);
            longest[index] = longest[index].max(Some(now + 1 - arrival));
        }
    }
    longest
}

/// Goal: the event loop schedules like the simple one. Method: 600 random sets, some overloaded.
#[test]
fn responses_are_those_of_a_scheduler_that_goes_tick_by_tick() {
    let mut random = Random::new(5, 0);
    for case in 0..600 {
        let scheduling = Scheduling::ALL[random.index(2)];
        let workload = random_tasks(&mut random, scheduling);
        let run = run(&workload, 1_000);
        let found: Vec<_> = (0..run.tasks.len()).map(|task| response_max(&run, task)).collect();
        // The run does not count a job that completes at its very end, so its responses equal those
        // of 999 ticks.
        let plain = by_ticks(&workload, 1_000);
        let is_close = found.iter().zip(&plain).all(|(found, plain)| found <= plain);
        assert!(is_close, "case {case}: {workload:#?} {found:?} {plain:?}");
        assert_eq!(found, by_ticks(&workload, 999), "case {case}: {workload:#?}");
    }
}

/// Adds up all execution, and checks that no two intervals overlap.
#[derive(Default)]
struct Sums {
    executed: Duration,
    last: Time,
}

impl CpuObserver for Sums {
    fn executed(&mut self, _: Thread, from: Time, to: Time, _: bool) {
        assert!(from >= self.last && to > from, "one thread at a time");
        self.executed += to - from;
        self.last = to;
    }
}

/// Returns a server with work between two tasks, with every kind of cost.
fn busy_processor(kind: ServerKind) -> CpuWorkload {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    workload.switch = us(2);
    workload.timer_latency = us(3);
    workload.tasks.push(CpuTask { jitter: us(7), ..task("above", 20, 100, 3) });
    let sporadic = CpuTask { arrivals: TaskArrivals::Sporadic, ..task("below", 200, 1_000, 1) };
    workload.tasks.push(sporadic);
    let params = ServerParams::new(kind, us(40), us(200));
    workload.servers.push(CpuServer::new("server", Priority(2), params));
    workload.work.push(CpuWork::new(
        "work",
        0,
        Arrivals::Bursty { burst: 3, gap_mean: us(150) },
        Execution::Exponential { mean: us(9) },
    ));
    workload
}

#[test]
fn no_time_is_lost_or_used_twice() {
    for kind in ServerKind::ALL {
        let workload = busy_processor(kind);
        let mut sums = Sums::default();
        let params = CpuParams::new(&workload, us(500_000), 3);
        let run = simulate(&params, &mut sums);
        assert_eq!(run.busy, sums.executed + run.switching, "{kind}");
        assert!(run.work[0].responses.count() > 5_000, "{kind}");
        assert_eq!(run.servers[0].exhaustions > 100, kind.has_budget(), "{kind}");
    }
}

/// A preemption costs two switches: to the urgent task and back.
#[test]
fn a_thread_that_takes_the_processor_first_switches() {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    workload.switch = us(2);
    workload.tasks.push(CpuTask { offset: us(10), ..task("urgent", 5, 1_000, 2) });
    workload.tasks.push(task("other", 20, 1_000, 1));
    let run = run(&workload, 900);
    assert_eq!(response_max(&run, 0), Some(7));
    // 2 for the first switch, 20 of its own execution, 7 for the urgent task, 2 to return.
    assert_eq!(response_max(&run, 1), Some(31));
    assert_eq!((run.switches, run.switching), (3, us(6)));
}

/// A server without budget continues in the background, if allowed, without a charge.
#[test]
fn a_background_priority_uses_the_remaining_time() {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    let params = ServerParams::new(ServerKind::Sporadic, us(10), us(100));
    workload.servers.push(CpuServer::new("server", Priority(5), params));
    workload.tasks.push(task("task", 50, 1_000, 3));
    workload.work.push(CpuWork::new(
        "job",
        0,
        Arrivals::At(vec![Duration::ZERO]),
        Execution::Fixed(us(25)),
    ));
    let response = |workload: &CpuWorkload| run(workload, 900).work[0].responses.max();
    assert_eq!(response(&workload), Some(us(205)), "10 in each period");
    workload.servers[0].background = Background::At(Priority(1));
    assert_eq!(response(&workload), Some(us(75)), "10, then 15 behind the task");
    let metrics = &run(&workload, 900).servers[0];
    assert_eq!((metrics.executed, metrics.background), (us(10), us(15)));
}

/// A charge can use up the budget with which a server would preempt; it then does not preempt,
/// and no switch happens.
#[test]
fn a_server_that_cannot_pay_for_a_preemption_does_not_preempt() {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    workload.switch = us(2);
    let params = ServerParams {
        preemption_charge: us(5),
        ..ServerParams::new(ServerKind::Sporadic, us(10), us(100))
    };
    let server = CpuServer::new("server", Priority(5), params);
    workload.servers.push(CpuServer { background: Background::At(Priority(1)), ..server });
    workload.tasks.push(CpuTask { offset: us(10), ..task("task", 50, 1_000, 3) });
    workload.work.push(CpuWork::new(
        "jobs",
        0,
        Arrivals::At(vec![us(0), us(20)]),
        Execution::Fixed(us(6)),
    ));
    // The second job finds 4 us of budget, less than the charge.
    let run = run(&workload, 900);
    assert_eq!(run.servers[0].charged, us(5));
    assert_eq!(response_max(&run, 0), Some(52));
    assert_eq!(run.switches, 3, "one for each job");
}

/// Jobs that find the queue full are lost, and count as missed if they have a deadline.
#[test]
fn a_full_queue_loses_jobs() {
    let mut workload = busy_processor(ServerKind::Sporadic);
    workload.servers[0].queued_max = 2;
    workload.work[0].deadline = Some(us(1_000_000));
    let metrics = run(&workload, 100_000).work[0].clone();
    assert!(metrics.lost > 100);
    assert_eq!(metrics.misses, metrics.lost);
}

/// Jitter delays a release, but the response counts from the arrival.
#[test]
fn jitter_counts_in_the_response() {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    workload.tasks.push(CpuTask { jitter: us(30), ..task("task", 5, 100, 1) });
    let responses = run(&workload, 100_000).tasks[0].responses.clone();
    assert!(responses.max() > Some(us(34)) && responses.max() <= Some(us(35)));
    assert!(responses.min() >= Some(us(5)) && responses.min() < Some(us(6)));
}

/// Under EDF a server's deadline is one period after its budget was activated, so the server waits
/// for a task with an earlier deadline.
#[test]
fn under_edf_a_server_has_a_deadline_too() {
    let mut workload = CpuWorkload::new(Scheduling::Edf);
    let params = ServerParams::new(ServerKind::Sporadic, us(10), us(100));
    workload.servers.push(CpuServer::new("server", Priority(0), params));
    workload.tasks.push(CpuTask { offset: us(2), ..task("sooner", 20, 50, 0) });
    workload.tasks.push(CpuTask { offset: us(2), ..task("later", 20, 400, 0) });
    workload.work.push(CpuWork::new(
        "job",
        0,
        Arrivals::At(vec![Duration::ZERO]),
        Execution::Fixed(us(8)),
    ));
    let run = run(&workload, 50);
    assert_eq!(response_max(&run, 0), Some(20));
    assert_eq!(run.work[0].responses.max(), Some(us(28)));
    assert_eq!(response_max(&run, 1), Some(46));
}

/// Draws tasks with deadlines at their periods and one server, which together need at most the
/// whole processor.
fn full_processor(random: &mut Random, kind: ServerKind) -> CpuWorkload {
    let mut workload = CpuWorkload::new(Scheduling::Edf);
    let period = 10 + random.below(50);
    let budget = 1 + random.below(period / 2);
    let params = ServerParams::new(kind, us(budget), us(period));
    workload.servers.push(CpuServer::new("server", Priority(0), params));
    let mut left_ppm = 1_000_000 - (budget * 1_000_000).div_ceil(period);
    for number in 0..3_u64 {
        let period = 10 + random.below(80);
        let share_ppm = if number == 2 { left_ppm } else { left_ppm / 2 };
        let execution = Duration::from_ns(period * share_ppm / 1_000);
        left_ppm -= share_ppm;
        if !execution.is_zero() {
            let offset = us(random.below(100));
            let task = task(&format!("task {number}"), 1, period, 0);
            workload.tasks.push(CpuTask { offset, execution, ..task });
        }
    }
    let mean = us(1 + random.below(budget + 3));
    workload.work.push(CpuWork::new(
        "work",
        0,
        Arrivals::Poisson { gap_mean: us(1 + random.below(period)) },
        Execution::Exponential { mean },
    ));
    workload
}

/// Goal: under EDF, too, a server is a periodic task to other threads: if the processor is fully
/// used, no deadline is missed. Canary: with a deferrable server, some deadlines are missed.
#[test]
fn under_edf_a_full_processor_misses_nothing() {
    let misses = |kind| {
        let mut random = Random::new(9, 0);
        let missed = (0..400).filter(|_| {
            let workload = full_processor(&mut random, kind);
            run(&workload, 20_000).tasks.iter().any(|task| task.misses > 0)
        });
        missed.count()
    };
    for kind in ServerKind::ALL {
        let is_kept = misses(kind) == 0;
        assert_eq!(is_kept, kind.is_like_a_periodic_task(), "{kind}");
    }
}

/// Returns a task's longest response over many seeds, disturbed at critical instants: random draws
/// decide the victim of a section, and whether time is stolen.
fn disturbed_max(workload: &CpuWorkload, stolen: &[StolenTime], task: usize) -> u64 {
    let disturbance = Disturbance { timing: Timing::Critical, stolen, ..Disturbance::NONE };
    let response = |seed| {
        let params = CpuParams { disturbance, ..CpuParams::new(workload, us(90), seed) };
        response_max(&simulate(&params, &mut ()), task).unwrap()
    };
    (0..40).map(response).max().unwrap()
}

/// A job that arrives while a less urgent job executes finds that job in a section. The wait is the
/// blocking term, or the rest of the less urgent job if that is shorter.
#[test]
fn a_section_keeps_the_more_urgent_waiting() {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    workload.tasks.push(task("low", 10, 100, 1));
    workload.tasks.push(CpuTask { offset: us(3), blocking: us(4), ..task("high", 2, 100, 2) });
    let runs = |workload: &CpuWorkload, task| disturbed_max(workload, &[], task);
    assert_eq!((runs(&workload, 0), runs(&workload, 1)), (12, 6));
    // The section ends with its job, which has 7 us left.
    workload.tasks[1].blocking = us(30);
    assert_eq!(runs(&workload, 1), 9);
    // A third task between the two tolerates no blocking, so neither has a section.
    workload.tasks.push(CpuTask { offset: us(50), ..task("middle", 1, 100, 2) });
    workload.tasks[1].priority = Priority(3);
    assert_eq!((runs(&workload, 1), runs(&workload, 2)), (2, 1));
    // If all tasks can be blocked, the thread outside the workload has sections, too.
    for task in &mut workload.tasks {
        task.blocking = us(5);
    }
    workload.tasks[1].offset = us(8);
    assert_eq!((runs(&workload, 0), runs(&workload, 1), runs(&workload, 2)), (17, 7, 6));
}

/// Stolen time takes its whole burst at a release, and continues at its rate.
#[test]
fn stolen_time_takes_its_burst_and_continues() {
    let text = "name = \"thief\"\n[conditions]\ncpu = 0\n[stolen]\ninterval_ns = [1_000]\n\
                ns_max = [1_000]\n[fit.demand]\nutilization_ppb = 250_000_000\n\
                offset_ns = 3_000\n";
    let profile = CpuProfile::parse(text).unwrap();
    let stolen_time = StolenTime::of(&profile, InterferenceBound::Demand, us(6)).unwrap();
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    workload.tasks.push(CpuTask { offset: us(5), ..task("only", 30, 1_000, 1) });
    // The least R with R = 30 + 9 + R / 4 is 52.
    assert_eq!(disturbed_max(&workload, &[stolen_time], 0), 52);
}
