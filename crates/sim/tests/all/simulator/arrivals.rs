// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Arrivals of tasks, and the jitter between a job's arrival and its release.

use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{
    Arrivals, Class, Duration, Intensity, PolicyName, Request, Task, TaskIndex, Time, Workload,
};
use tidegate_policy::{Decision, Event, Full, NoticeKind, Policy};
use tidegate_sim::{CheckedSimulation, Length, NotSimulated, SimParams, simulate};

use super::common::{Seen, TIMES_MS, at, disk, load, ms, plan, record, task, workload};

/// Returns the requests of each task with the instants at which the policy saw them.
fn released(workload: &Workload, seed: u64, jobs: u64) -> Vec<Vec<(Time, Request)>> {
    let params = SimParams { seed, ..SimParams::new(workload, Length::Jobs(jobs)) };
    let (_, recorder) = record(&params, PolicyName::Dqf, &plan(workload, 4, 0));
    let mut all = vec![Vec::new(); workload.tasks.len()];
    for (seen_at, seen) in recorder.seen {
        if let Seen::Released(request) = seen {
            all[request.task.index()].push((seen_at, request));
        }
    }
    all
}

fn gaps(instants: impl Iterator<Item = Time> + Clone) -> Vec<Duration> {
    instants.clone().skip(1).zip(instants).map(|(next, last)| next - last).collect()
}

/// Goal: jobs arrive once per period. The policy sees each up to J later, and can see two as close
/// together as p - J; each is due the policy's own deadline after it was seen. Method: a long run.
#[test]
fn jitter_delays_a_job_and_its_deadline_at_the_policy_and_not_its_arrival() {
    let late = Task { jitter: ms(15), deadline: ms(30), ..task("late", 40) };
    let workload = workload(&TIMES_MS, vec![late, task("punctual", 40)], Vec::new());
    let all = released(&workload, 1, 500);
    for (number, (seen_at, request)) in (0_u64..).zip(&all[0]) {
        assert_eq!(request.released, at(40 * number), "it arrives once per period");
        assert!(*seen_at >= request.released && *seen_at - request.released <= ms(15));
        assert_eq!(request.eligible, *seen_at);
        assert_eq!(request.due, Some(*seen_at + ms(15)), "30 ms from the arrival, without 15 ms");
    }
    let gaps = gaps(all[0].iter().map(|&(seen_at, _)| seen_at));
    assert_eq!(gaps.iter().min(), Some(&ms(25)), "as close together as allowed");
    assert_eq!(gaps.iter().max(), Some(&ms(55)));
    for (number, (seen_at, request)) in (0_u64..).zip(&all[1]) {
        assert_eq!((*seen_at, request.released), (at(40 * number), at(40 * number)));
    }
}

/// Goal: bunched tasks keep their periods, meet, and use all of their jitter. Method: three tasks
/// of different periods.
#[test]
fn bunched_tasks_meet_and_keep_their_periods() {
    let bunched = |name: &str, period: u64, jitter: u64| Task {
        arrivals: Arrivals::Bunched,
        jitter: ms(jitter),
        ..task(name, period)
    };
    let tasks = vec![bunched("a", 40, 0), bunched("b", 40, 30), bunched("c", 110, 5)];
    let workload = workload(&TIMES_MS, tasks, Vec::new());
    let all = released(&workload, 3, 1_000);
    let (mut together, mut just_after) = (0, 0);
    for (index, (task, requests)) in workload.tasks.iter().zip(&all).enumerate() {
        let arrivals = gaps(requests.iter().map(|(_, request)| request.released));
        assert!(arrivals.iter().all(|&gap| gap >= task.period), "{}", task.name);
        assert!(arrivals.contains(&task.period), "{}: never as early as allowed", task.name);
        assert!(arrivals.iter().any(|&gap| gap > task.period), "{}: never silent", task.name);
        let seen = gaps(requests.iter().map(|&(seen_at, _)| seen_at));
        assert_eq!(seen.iter().min(), Some(&(task.period - task.jitter)), "{}", task.name);
        for &(seen_at, _) in all[..index].iter().flatten() {
            let lag = |other: Time| other.ns().checked_sub(seen_at.ns());
            together += requests.iter().filter(|(it, _)| lag(*it) == Some(0)).count();
            just_after += requests.iter().filter(|(it, _)| lag(*it) == Some(1)).count();
        }
    }
    assert!(together > 20 && just_after > 10, "{together} at one instant, {just_after} just after");
    assert_eq!(all, released(&workload, 3, 1_000), "the seed fixes them");
    assert_ne!(all, released(&workload, 4, 1_000));
}

/// Goal: bunched arrivals are at least as bad as periodic ones that begin together, and show a load
/// beyond capacity. Method: many small and three larger tasks on a disk that takes as long as its
/// table allows; the worst response of any task.
#[test]
fn bunched_tasks_wait_at_least_as_long_as_periodic_ones() {
    let drive = tidegate_drive::builtin::load("maxtor-atlas-10k-v").expect("Tidegate includes it");
    let worst = |count: u32, requests: u32, arrivals: &str, seeds: std::ops::Range<u64>| {
        let text = format!(
            "drive = \"maxtor-atlas-10k-v\"\n\
             [[task]]\nname = \"c\"\ncount = {count}\nperiod = \"300ms\"\ndeadline = \"3s\"\n\
             size = \"128KiB\"\narrivals = \"{arrivals}\"\n\
             [[task]]\nname = \"d\"\ncount = 3\nperiod = \"250ms\"\ndeadline = \"3s\"\n\
             size = \"128KiB\"\nrequests = {requests}\narrivals = \"{arrivals}\"\n"
        );
        let workload = WorkloadFile::parse(&text).unwrap().bind(&drive).unwrap();
        let plan = plan(&workload, workload.table.batch_max(), 0);
        let worst = seeds.map(|seed| {
            let params = SimParams { seed, ..SimParams::new(&workload, Length::Jobs(2_000)) };
            let (run, _) = record(&params, PolicyName::Dqf, &plan);
            run.metrics.tasks().iter().filter_map(|task| task.responses.max()).max()
        });
        worst.max().flatten().expect("jobs completed")
    };
    for (count, requests) in [(17, 2), (15, 2)] {
        let (periodic, bunched) =
            (worst(count, requests, "periodic", 1..2), worst(count, requests, "bunched", 1..4));
        println!("{count} and 3 of {requests}: periodic {periodic}, bunched {bunched}");
        assert!(bunched >= periodic, "{count}, {requests}: {bunched} is below {periodic}");
    }
    let (periodic, bunched) = (worst(20, 3, "periodic", 1..2), worst(20, 3, "bunched", 1..4));
    println!("beyond capacity: periodic {periodic}, bunched {bunched}");
    assert!(bunched >= ms(3_000) && periodic >= ms(3_000), "{bunched}, {periodic}");
}

/// A policy that counts the missed deadlines reported to it.
struct Hears<P>(P, u64);

impl<P: Policy> Policy for &mut Hears<P> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        let kind = NoticeKind::DeadlineMissed;
        self.1 += u64::from(event == Event::Notice { task: TaskIndex(0), kind });
        self.0.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.0.decide(now)
    }
}

/// Goal: a soft task reports only the jobs that complete later than their deadline, counted from
/// their arrival. Method: jobs that the policy sees up to 280 ms late, each due 20 ms after that,
/// beside best effort.
#[test]
fn soft_tasks_with_jitter_report_the_misses_of_their_clients_only() {
    let soft = Task { class: Class::Soft, jitter: ms(280), ..task("soft", 300) };
    let loads = vec![load("backup", Intensity::Outstanding(8))];
    let workload = workload(&TIMES_MS, vec![soft], loads);
    let plan = plan(&workload, 4, 3);
    let policy = tidegate_policy::build(PolicyName::Mdn, &plan, None).unwrap();
    let mut hears = Hears(policy, 0);
    let params = SimParams::new(&workload, Length::Jobs(400));
    let run = simulate(&params, &mut hears, disk(&workload), &mut ());
    let misses = run.metrics.tasks()[0].misses;
    assert!(misses > 0 && misses < 400, "{misses}");
    assert_eq!(hears.1, misses);
}

/// Goal: a closed loop releases until the policy has seen the last job, with or without jitter.
/// Method: its request completes at 10 ms, when the only job is seen.
#[test]
fn closed_loop_ends_with_the_last_job_that_is_seen() {
    let best_effort = |last: Task, seed: u64| {
        let loads = vec![load("backup", Intensity::Outstanding(1))];
        let workload = workload(&TIMES_MS, vec![last], loads);
        let params = SimParams { seed, ..SimParams::new(&workload, Length::Jobs(1)) };
        let (_, recorder) = record(&params, PolicyName::Dqf, &plan(&workload, 4, 1));
        (recorder.releases(0)[0], recorder.releases(1))
    };
    let punctual = best_effort(Task { offset: ms(10), ..task("a", 100) }, 1);
    assert_eq!(punctual, (at(10), vec![at(0), at(10)]));
    let late = |seed| best_effort(Task { jitter: ms(10), ..task("a", 100) }, seed);
    let is_latest = |(seen, _): &(Time, Vec<Time>)| *seen == at(10);
    assert_eq!((1..50).map(late).find(is_latest), Some(punctual), "jitter of 10 ms");
}

/// Goal: a run whose last job may be beyond the end of time is refused, whatever its arrivals.
/// Method: periods of 34 years.
#[test]
fn runs_of_more_than_584_years_are_refused() {
    let file = tidegate_drive::builtin::load("maxtor-atlas-10k-v").expect("Tidegate includes it");
    let refused = |arrivals: &str, jitter: &str, jobs: u64| {
        let text = format!(
            "drive = \"maxtor-atlas-10k-v\"\n[[task]]\nname = \"slow\"\nperiod = \"300000h\"\n\
             size = \"4KiB\"\narrivals = \"{arrivals}\"\njitter = \"{jitter}\"\n"
        );
        let workload = WorkloadFile::parse(&text).unwrap().bind(&file).unwrap();
        let (params, plan) = (SimParams::new(&workload, Length::Jobs(jobs)), plan(&workload, 1, 0));
        let drive = (tidegate_model::DriveKind::Pseudo, &file, &workload);
        match CheckedSimulation::new(&params, PolicyName::Dqf, &plan, drive) {
            Ok(simulation) => {
                simulation.run((), || false);
                false
            }
            Err(NotSimulated::LengthBeyondTime { task }) => task == "slow",
            Err(error) => panic!("{error}"),
        }
    };
    // 584 years are 17.08 times 300,000 hours.
    let cases = [("periodic", "0ms", 18), ("sporadic", "0ms", 9), ("bunched", "0ms", 9)];
    for (arrivals, jitter, jobs_max) in cases {
        assert!(!refused(arrivals, jitter, jobs_max), "{arrivals}");
        assert!(refused(arrivals, jitter, jobs_max + 1), "{arrivals}");
    }
    assert!(!refused("periodic", "20000h", 18) && refused("periodic", "30000h", 18));
}
