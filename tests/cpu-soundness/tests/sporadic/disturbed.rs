// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares bounds that include blocking and measured interference with simulations in which
//! sections and stolen time are as large as allowed, at the worst instants and at random.

use tidegate_cpu_analysis::{CpuAnswer, MeasuredDemand, assess};
use tidegate_cpu_model::{
    Background, CpuConditions, CpuProfile, CpuTask, CpuWorkload, DemandFit, InterferenceBound,
    LoadFit, Priority, Scheduling, ServerKind, StolenPoint, WHOLE_PPB,
};
use tidegate_cpu_sim::{CpuObserver, CpuParams, CpuRun, Disturbance, StolenTime, Timing, simulate};
use tidegate_model::{Duration, Random, Time};

use crate::compare;
use crate::generate::{Costs, workload};

const NS: fn(u64) -> Duration = Duration::from_ns;

const KINDS: [ServerKind; 4] = [
    ServerKind::Polling,
    ServerKind::Sporadic,
    ServerKind::HybridImmediate,
    ServerKind::HybridGradual,
];

/// The number of random processors that each test tries.
const WORKLOADS: u64 = 1_200;

/// A processor with disturbance.
#[derive(Debug, Clone)]
struct Disturbed {
    workload: CpuWorkload,
    measured: Vec<MeasuredDemand>,
    stolen: Vec<StolenTime>,
    timing: Timing,
    seed: u64,
}

impl Disturbed {
    fn random(random: &mut Random, scheduling: Scheduling, seed: u64) -> Self {
        let costs = [Costs::None, Costs::Overrun, Costs::All][random.index(3)];
        let mut workload = workload(random, &KINDS, costs);
        workload.scheduling = scheduling;
        if scheduling == Scheduling::Edf {
            for server in &mut workload.servers {
                server.background = Background::Never;
            }
        }
        // Choose sections, stolen time, or both.
        let what = random.below(3);
        if what != 0 {
            add_blocking(&mut workload, random);
        }
        let (mut measured, mut stolen) = (Vec::new(), Vec::new());
        for _ in 0..(1 + random.below(2)) * u64::from(what != 1) {
            let profile = profile(random);
            let bound = InterferenceBound::ALL[random.index(3)];
            let margin = NS(random.below(2) * random.below(10));
            measured.push(MeasuredDemand::new(&profile, bound, margin).unwrap());
            stolen.push(StolenTime::of(&profile, bound, margin).unwrap());
        }
        let timing = if random.below(3) == 0 { Timing::Random } else { Timing::Critical };
        Self { workload, measured, stolen, timing, seed }
    }

    fn run(&self, observer: &mut impl CpuObserver) -> CpuRun {
        let disturbance = Disturbance { timing: self.timing, stolen: &self.stolen, grain: NS(1) };
        let params = CpuParams::new(&self.workload, NS(6_000), self.seed);
        simulate(&CpuParams { disturbance, ..params }, observer)
    }
}

/// Adds blocking. About half of the threads get the same length, because one section delays several
/// threads.
fn add_blocking(workload: &mut CpuWorkload, random: &mut Random) {
    let most = 1 + random.below(30);
    let mut draw = || NS([0, most, most, most + random.below(20)][random.index(4)]);
    workload.tasks.iter_mut().for_each(|task| task.blocking = draw());
    workload.servers.iter_mut().for_each(|server| server.blocking = draw());
}

/// Returns a random profile of interference. Its fits allow up to 30 % of the processor, in bursts
/// of up to 40 ns; each point has up to 9 ns more than the previous one.
fn profile(random: &mut Random) -> CpuProfile {
    let (mut interval, mut stolen) = (0, 0);
    let points = (0..=random.below(4)).map(|_| {
        interval += 10 + random.below(60);
        stolen = (stolen + random.below(10)).min(interval);
        StolenPoint { interval: NS(interval), stolen_max: NS(stolen) }
    });
    CpuProfile {
        name: "random".to_owned(),
        conditions: CpuConditions::default(),
        points: points.collect(),
        demand_fit: Some(DemandFit {
            utilization_ppb: random.below(300_000_000),
            offset_ns: random.below(40),
        }),
        load_fit: Some(LoadFit {
            utilization_ppb: random.below(300_000_000),
            period_ns: 1 + random.below(150),
        }),
    }
}

/// The counts of the comparisons that were made.
#[derive(Debug, Default)]
struct Compared {
    /// The number of bounds of tasks in which blocking or interference counts. `tight` is the
    /// number of these bounds that were reached.
    tasks: u32,
    tight: u32,
    /// The sum of the longest responses of these tasks, each in percent of its bound.
    close: u64,
    /// The number of bounds of work.
    work: u32,
    closest_work: u64,
    sections: u64,
    stolen: Duration,
}

impl Compared {
    /// Describes the first response that is beyond its bound.
    fn first_broken(&mut self, disturbed: &Disturbed) -> Option<String> {
        let assessment = assess(&disturbed.workload, &disturbed.measured);
        let mut undisturbed = disturbed.workload.clone();
        forget_blocking(&mut undisturbed);
        let undisturbed = assess(&undisturbed, &[]);
        let run = disturbed.run(&mut ());
        self.sections += run.sections;
        self.stolen += run.stolen;
        let of_tasks =
            compare::first_broken(&assessment.tasks, &run.tasks, |task, bound, longest| {
                if undisturbed.tasks[task].bound != assessment.tasks[task].bound {
                    self.tasks += 1;
                    self.tight += u32::from(longest == bound);
                    self.close += longest.ns() * 100 / bound.ns();
                }
            });
        let of_work = || {
            compare::first_broken(&assessment.work, &run.work, |_, bound, longest| {
                self.work += 1;
                self.closest_work = self.closest_work.max(longest.ns() * 100 / bound.ns());
            })
        };
        of_tasks.or_else(of_work)
    }
}

fn compare_all(stream: u64, scheduling: Scheduling) -> Compared {
    let mut random = Random::new(21, stream);
    let mut compared = Compared::default();
    for seed in 0..WORKLOADS {
        let disturbed = Disturbed::random(&mut random, scheduling, seed);
        let broken = compared.first_broken(&disturbed);
        assert_eq!(broken, None, "{disturbed:#?}");
    }
    println!("{scheduling}: {compared:?}");
    compared
}

#[test]
fn bounds_hold_where_sections_block_and_thieves_steal() {
    let compared = compare_all(1, Scheduling::FixedPriority);
    assert!(compared.tight > 50 && compared.closest_work >= 95, "{compared:?}");
    assert!(compared.sections > 1_000 && !compared.stolen.is_zero(), "{compared:?}");
}

#[test]
fn bounds_hold_where_sections_block_and_thieves_steal_under_edf() {
    let compared = compare_all(2, Scheduling::Edf);
    assert!(compared.work > 300 && compared.sections > 1_000, "{compared:?}");
}

/// A term of the analysis that a canary omits.
#[derive(Debug, Clone, Copy)]
enum Term {
    Blocking,
    Interference,
}

/// Returns the number of task sets that miss a deadline although the analysis without `term`
/// accepts them.
fn caught(stream: u64, scheduling: Scheduling, term: Term) -> u32 {
    let mut random = Random::new(22, stream);
    let mut caught = 0;
    for seed in 0..WORKLOADS {
        let mut disturbed = Disturbed::random(&mut random, scheduling, seed);
        let mut optimistic = disturbed.clone();
        match term {
            Term::Blocking => forget_blocking(&mut optimistic.workload),
            Term::Interference => optimistic.measured.clear(),
        }
        // Bounds of work are not tested here.
        optimistic.workload.work.iter_mut().for_each(|work| work.deadline = None);
        if scheduling == Scheduling::FixedPriority {
            let assessment = assess(&optimistic.workload, &optimistic.measured);
            // Each bound becomes the task's deadline, so that without `term` the deadline appears
            // to be just met.
            for (index, row) in assessment.tasks.iter().enumerate() {
                let deadline = row.response_max().unwrap_or(NS(1_000_000));
                disturbed.workload.tasks[index].deadline = deadline;
                optimistic.workload.tasks[index].deadline = deadline;
            }
        }
        let assessment = assess(&optimistic.workload, &optimistic.measured);
        let is_accepted = assessment.answer == CpuAnswer::Proven;
        let run = disturbed.run(&mut ());
        caught += u32::from(is_accepted && run.tasks.iter().any(|task| task.misses > 0));
    }
    println!("{scheduling} without {term:?}: {caught} caught");
    caught
}

fn forget_blocking(workload: &mut CpuWorkload) {
    workload.tasks.iter_mut().for_each(|task| task.blocking = Duration::ZERO);
    workload.servers.iter_mut().for_each(|server| server.blocking = Duration::ZERO);
}

/// Canary: an analysis without its blocking term is detected.
#[test]
fn an_analysis_without_blocking_is_caught() {
    assert!(caught(1, Scheduling::FixedPriority, Term::Blocking) > 50);
    assert!(caught(2, Scheduling::Edf, Term::Blocking) > 1);
}

/// Canary: an analysis without its interference term is detected.
#[test]
fn an_analysis_without_interference_is_caught() {
    assert!(caught(3, Scheduling::FixedPriority, Term::Interference) > 50);
    assert!(caught(4, Scheduling::Edf, Term::Interference) > 1);
}

/// The intervals of stolen time.
#[derive(Debug, Default)]
struct Stolen(Vec<(Time, Time)>);

impl CpuObserver for Stolen {
    fn stolen(&mut self, from: Time, to: Time) {
        self.0.push((from, to));
    }
}

/// Goal: stolen time stays within the analysis's bound, and reaches it. Method: checks all windows
/// that begin and end with stolen time.
#[test]
fn stolen_time_uses_its_bound_and_no_more() {
    let mut random = Random::new(23, 1);
    let (mut windows, mut full) = (0_u64, 0_u64);
    for seed in 0..300 {
        let mut disturbed = Disturbed::random(&mut random, Scheduling::FixedPriority, seed);
        let [bound] = &disturbed.measured[..] else { continue };
        let bound = bound.clone();
        let mut stolen = Stolen::default();
        disturbed.workload.work.clear();
        disturbed.run(&mut stolen);
        let stretches = &stolen.0[..stolen.0.len().min(400)];
        for (index, first) in stretches.iter().enumerate() {
            let mut sum = 0;
            for last in &stretches[index..] {
                sum += last.1.since(last.0).ns();
                let allowed = bound.demand_ns(last.1.since(first.0).ns()).unwrap();
                assert!(sum <= allowed, "{first:?} {last:?} {sum} > {allowed} {disturbed:#?}");
                windows += 1;
                full += u64::from(sum == allowed);
            }
        }
    }
    println!("{windows} windows, {full} of them full");
    assert!(full > 1_000, "{full} of {windows}");
}

/// Returns a profile whose demand line bounds the task's execution, including switches, in any
/// window if nothing delays the task.
fn line_above(task: &CpuTask, switch: Duration) -> CpuProfile {
    let (period, execution) = (task.period.ns(), task.execution.ns() + 2 * switch.ns());
    let utilization_ppb = (execution * WHOLE_PPB).div_ceil(period);
    let reach = period + task.jitter.ns() - execution;
    let demand_fit = DemandFit { utilization_ppb, offset_ns: (reach * execution).div_ceil(period) };
    CpuProfile {
        name: task.name.clone(),
        conditions: CpuConditions::default(),
        points: vec![StolenPoint { interval: NS(1), stolen_max: NS(1) }],
        demand_fit: Some(demand_fit),
        load_fit: None,
    }
}

/// Goal: a measurement of an undelayed service also bounds the service when tasks of higher
/// priority delay it (docs/theory/processors.md section 17). Method: the analysis replaces one task
/// by a demand line above its undelayed execution. In the simulation, the other tasks delay that
/// task. Canary: the line with offset 0.
#[test]
fn a_service_below_some_tasks_takes_no_more_than_was_measured() {
    let mut random = Random::new(24, 1);
    let (mut compared, mut caught) = (0, 0);
    for seed in 0..WORKLOADS {
        let mut disturbed = Disturbed::random(&mut random, Scheduling::FixedPriority, seed);
        let service = disturbed.workload.tasks.remove(0);
        let mut profile = line_above(&service, disturbed.workload.switch);
        let bounds = |profile: &CpuProfile| {
            let line = MeasuredDemand::new(profile, InterferenceBound::Demand, Duration::ZERO);
            let mut measured = disturbed.measured.clone();
            measured.push(line.unwrap());
            assess(&disturbed.workload, &measured).tasks
        };
        let honest = bounds(&profile);
        profile.demand_fit.as_mut().unwrap().offset_ns = 0;
        let optimistic = bounds(&profile);
        disturbed.workload.tasks.push(service);
        let run = disturbed.run(&mut ());
        for ((honest, optimistic), metrics) in honest.iter().zip(&optimistic).zip(&run.tasks) {
            let longest = metrics.responses.max().unwrap_or_default();
            let is_broken = |bound: Option<Duration>| bound.is_some_and(|bound| longest > bound);
            let bound = honest.response_max();
            assert!(!is_broken(bound), "{}: {longest} > {bound:?} {disturbed:#?}", metrics.name);
            compared += u32::from(bound.is_some());
            caught += u32::from(is_broken(optimistic.response_max()));
        }
    }
    println!("{compared} bounds, {caught} caught without the burst");
    assert!(compared > 500 && caught > 50, "{compared} {caught}");
}

/// Goal: at least 60 % of the bounds with blocking and measured interference (the linear or the
/// hyperbolic fit) are reached exactly. Method: tasks of different priorities and the same
/// blocking, released together.
#[test]
fn bounds_are_reached() {
    let mut random = Random::new(25, 1);
    let (mut bounds, mut reached, mut share) = (0, 0, 0);
    for seed in 0..WORKLOADS / 4 {
        let mut disturbed = Disturbed::random(&mut random, Scheduling::FixedPriority, seed);
        let Disturbed { workload, measured, stolen, timing, .. } = &mut disturbed;
        *timing = Timing::Critical;
        workload.switch = Duration::ZERO;
        workload.servers.clear();
        workload.work.clear();
        let blocking = NS(random.below(30));
        for (task, priority) in workload.tasks.iter_mut().zip(1..) {
            *task = CpuTask {
                blocking,
                ..CpuTask::new(&task.name, task.execution, task.period, Priority(priority))
            };
        }
        let profile = profile(&mut random);
        let bound = [InterferenceBound::Demand, InterferenceBound::Load][random.index(2)];
        *measured = vec![MeasuredDemand::new(&profile, bound, Duration::ZERO).unwrap()];
        *stolen = vec![StolenTime::of(&profile, bound, Duration::ZERO).unwrap()];
        let assessment = assess(workload, measured);
        let mut longest = vec![Duration::ZERO; assessment.tasks.len()];
        for again in 0..12 {
            let run = Disturbed { seed: seed + again, ..disturbed.clone() }.run(&mut ());
            for (longest, metrics) in longest.iter_mut().zip(&run.tasks) {
                *longest = metrics.responses.max().unwrap_or_default().max(*longest);
            }
        }
        for (row, longest) in assessment.tasks.iter().zip(longest) {
            let Some(bound) = row.response_max().filter(|bound| *bound < NS(2_000)) else {
                continue;
            };
            assert!(longest <= bound, "{longest} > {bound} {disturbed:#?}");
            bounds += 1;
            reached += u64::from(longest == bound);
            share += longest.ns() * 100 / bound.ns();
        }
    }
    println!("{reached} of {bounds} bounds reached, on average {} %", share / bounds);
    assert!(reached * 100 >= bounds * 60, "{reached} of {bounds}");
}
