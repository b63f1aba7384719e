// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds with the host's time hold for every policy: in all schedules of small systems, and for the
//! policies themselves in the simulator, whose host is late by random times up to the stated ones
//! (`docs/theory/host-time.md` section 30).

use rand::RngExt;
use tidegate_analysis::{Answer, System, Verdict, assess, dqf};
use tidegate_model::{
    BatchTable, Bytes, Duration, Host, HostTime, PolicyName, Task, Theorem, Workload,
};
use tidegate_soundness::SmallSystem;
use tidegate_soundness::adversary::{self, Extent};
use tidegate_soundness::generate::{self, Size};
use tidegate_soundness::harness::Bound;
use tidegate_soundness::host_time::trial;
use tidegate_soundness::small::Rules;
use tidegate_soundness::trial::{Closeness, Trial, assert_caught};

const SEED: u64 = 20_261_125;
const TRIALS: u64 = 400;
const JOBS: u64 = 40;

fn policies() -> impl Iterator<Item = PolicyName> {
    PolicyName::ALL.into_iter().filter(|policy| policy.facts().theorem.is_ok())
}

#[test]
fn no_response_exceeds_a_bound_with_host_time() {
    for name in policies() {
        let mut closeness = Closeness::default();
        for number in 0..TRIALS {
            let Some((trial, drive)) = trial(number, name, JOBS) else {
                assert_eq!(name.facts().theorem, Ok(Theorem::ActiveSubset), "only das is refused");
                continue;
            };
            let (run, ()) = trial.checked_run(drive, ());
            closeness.note(&trial, &run);
        }
        let is_refused = name.facts().theorem == Ok(Theorem::ActiveSubset);
        closeness.conclude(name.name(), if is_refused { 0 } else { 100 });
    }
}

/// Asserts that some run exceeds the bounds of a proof that states less host time.
fn caught_without(what: &str, policy: PolicyName, less: impl Fn(HostTime) -> HostTime) {
    let trials = (0..TRIALS).filter_map(|number| trial(number, policy, JOBS));
    assert_caught(what, trials.map(|(trial, _)| trial), |it: &mut Trial| {
        let (_, drive) = trial(it.number, policy, JOBS).expect("drawn before");
        let host = it.workload.host;
        it.workload.host = Host::Stated(less(host.time()));
        // The plan stays the one behind the whole host, so only the bound is wrong.
        it.assessment = assess(&it.workload, policy);
        it.workload.host = host;
        it.run(it.policy(), drive, &mut ())
    });
}

/// Canaries: a bound that omits one of the host's times. `dqf` reaches its bound, `fifo` shows that a
/// busy interval has many batches, and `rtio-limit` has a bound by drain times.
#[test]
fn bounds_without_one_of_the_hosts_times_are_caught() {
    let zero = Duration::ZERO;
    for policy in [PolicyName::Dqf, PolicyName::Fifo, PolicyName::Edf, PolicyName::RtioLimit] {
        let name = |what: &str| format!("{policy} without {what}");
        caught_without(&name("J"), policy, |host| HostTime { release: zero, ..host });
        caught_without(&name("submit"), policy, |host| HostTime { submit: zero, ..host });
        caught_without(&name("complete"), policy, |host| HostTime { complete: zero, ..host });
        caught_without(&name("c"), policy, |host| HostTime { reply: zero, ..host });
    }
}

/// Canary: a policy that spends all slack, with the plan of a host that takes no time.
#[test]
fn a_plan_that_does_not_know_the_host_is_caught() {
    for policy in [PolicyName::GatedDrain, PolicyName::AdaptiveDrain] {
        let trials = (0..TRIALS).filter_map(|number| trial(number, policy, JOBS));
        assert_caught("a plan without the host", trials.map(|(trial, _)| trial), |it| {
            let (_, drive) = trial(it.number, policy, JOBS).expect("drawn before");
            let host = std::mem::replace(&mut it.workload.host, Host::Unstated);
            it.assess_anew();
            it.workload.host = host;
            it.run(it.policy(), drive, &mut ())
        });
    }
}

/// A small system, and its host.
struct Case {
    system: SmallSystem,
    host: HostTime,
}

/// The bounds of dual-queue FIFO.
const BOUNDS: [(&str, Bound); 4] = [
    ("tight", dqf::tight),
    ("linear", dqf::linear),
    ("busy_interval", dqf::busy_interval),
    ("min_period", dqf::min_period),
];

impl Case {
    fn numbered(number: u64) -> Self {
        let random = &mut generate::generator(SEED, number);
        let size = Size { tasks_max: 3, batch_max: 3, ..Size::SMALL };
        let system = generate::system(random, size);
        let fill =
            if number.is_multiple_of(3) { random.random_range(0..=system.batch_max) } else { 0 };
        let mut ticks = |most: u64| Duration::from_ns(random.random_range(0..=most));
        let host =
            HostTime { release: ticks(4), submit: ticks(2), complete: ticks(2), reply: ticks(3) };
        Self { system: system.with_best_effort_fill(fill), host }
    }

    /// Returns each task's longest response time at the client, over all schedules: a batch takes
    /// at most the drive's time plus the host's time, and the policy learns of a job at most J
    /// after its release.
    fn longest(&self) -> Option<Vec<u64>> {
        let ticks = |time: Duration| u32::try_from(time.ns()).expect("few ticks");
        let mut system = self.system.clone();
        for time in &mut system.table[1..] {
            *time += ticks(self.host.of_batch());
        }
        let rules = Rules::LIMIT.with_jitter(ticks(self.host.release));
        let found = adversary::worst_case(&system, rules);
        let responses = found.responses.into_iter();
        let at_client = |response| u64::from(response) + self.host.reply.ns();
        (found.extent != Extent::TooManyStates).then(|| responses.map(at_client).collect())
    }

    /// Returns the system as the policy sees it, made by the model; `None` if a task cannot be seen
    /// behind the host.
    fn behind(&self, host: HostTime) -> Option<System> {
        let tick = Duration::from_ns(1);
        let system = self.system.to_analysis(tick);
        let tasks = system.tasks.iter().map(|task| Task {
            requests: task.requests,
            // Long, so that only the bound is examined.
            deadline: Duration::from_ms(1),
            ..Task::periodic("t", task.period, Bytes::from_kib(4))
        });
        let workload = Workload {
            tasks: tasks.collect(),
            host: Host::Stated(host),
            ..Workload::new("small", system.batch_max, system.table.clone())
        };
        let planned = workload.planned();
        if planned.premises.void().is_some() {
            return None;
        }
        let seen = planned.tasks.iter().zip(&system.tasks);
        let tasks = seen
            .map(|(seen, task)| tidegate_analysis::SporadicTask { period: seen.period, ..*task });
        Some(System { tasks: tasks.collect(), table: planned.table.clone(), ..system })
    }
}

/// Returns the first response above a bound, with the host's times of `of_bound` in the bound, and how
/// many bounds were compared and reached.
fn broken(case: &Case, of_bound: HostTime) -> (Option<String>, u32, u32) {
    let (mut compared, mut reached) = (0, 0);
    let Some(longest) = case.longest() else { return (None, 0, 0) };
    let Some(system) = case.behind(of_bound) else { return (None, 0, 0) };
    for (name, bound) in BOUNDS {
        if name == "min_period" && system.best_effort_fill > 0 {
            continue;
        }
        let Ok(verdicts) = bound(&system) else { continue };
        for (task, verdict) in verdicts.iter().enumerate() {
            let Verdict::Bounded(bound) = verdict else { continue };
            let bound = bound.ns() + of_bound.around_policy().ns();
            let longest = longest[task];
            compared += 1;
            reached += u32::from(longest == bound);
            if longest > bound {
                let text = format!(
                    "`{name}`: task {task} takes {longest}, not {bound}, in {}",
                    case.system
                );
                return (Some(format!("{text} behind {:?}", case.host)), compared, reached);
            }
        }
    }
    (None, compared, reached)
}

#[test]
fn no_schedule_of_a_small_system_exceeds_a_bound_with_host_time() {
    let (mut compared, mut reached) = (0, 0);
    for number in 0..600 {
        let case = Case::numbered(number);
        let (broken, of_case, reached_in_case) = broken(&case, case.host);
        assert_eq!(broken, None, "number {number}");
        compared += of_case;
        reached += reached_in_case;
    }
    println!("{compared} bounds compared, {reached} reached");
    assert!(compared >= 1_000 && reached >= 200, "too few: {compared}, {reached}");
}

/// Canaries of the search: the bound forgets one time, or the jitter's effect on periods.
#[test]
fn a_bound_of_a_small_system_without_one_of_the_hosts_times_is_caught() {
    type Less = fn(HostTime) -> HostTime;
    let less: [(&str, Less); 3] = [
        ("J", |host| HostTime { release: Duration::ZERO, ..host }),
        ("h", |host| HostTime { submit: Duration::ZERO, complete: Duration::ZERO, ..host }),
        // J counts once, but jobs are seen a period apart.
        ("p - J", |host| HostTime {
            release: Duration::ZERO,
            reply: host.reply + host.release,
            ..host
        }),
    ];
    for (name, less) in less {
        let caught = (0..600).find_map(|number| {
            let case = Case::numbered(number);
            broken(&case, less(case.host)).0
        });
        let caught = caught.unwrap_or_else(|| panic!("without {name}: nothing is caught"));
        println!("without {name}: caught, {caught}");
    }
}

/// By hand: b(1) = 10, one task of period and deadline 30, J = 4, h = 2 + 1, c = 3.
#[test]
fn bounds_of_one_task_are_those_of_the_text() {
    let ns = Duration::from_ns;
    let table = BatchTable::new(&[ns(10)]).expect("a table");
    let task = Task::periodic("t", ns(30), Bytes::from_kib(4));
    let host = HostTime { release: ns(4), submit: ns(2), complete: ns(1), reply: ns(3) };
    let workload =
        Workload { tasks: vec![task], host: Host::Stated(host), ..Workload::new("one", 1, table) };
    let assessment = assess(&workload, PolicyName::Dqf);
    let bound = assessment.tasks[0].response_max.map(|(bound, _)| bound);
    assert_eq!((assessment.answer, bound), (Answer::Proven, Some(ns(20))));
}
