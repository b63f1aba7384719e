// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds with the host's time and with jitter hold in all schedules of small systems
//! (`docs/theory/host-time.md` section 30).

use rand::RngExt;
use tidegate_analysis::{System, Verdict, dqf};
use tidegate_model::{Bytes, Duration, Host, HostTime, Task, Workload};
use tidegate_soundness::SmallSystem;
use tidegate_soundness::adversary::{self, Extent};
use tidegate_soundness::generate::{self, Size};
use tidegate_soundness::harness::Bound;
use tidegate_soundness::small::Rules;

const SEED: u64 = 20_261_125;

/// The effects of jitter that a bound contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Jitter {
    /// All effects.
    Counted,
    /// No effect.
    Ignored,
    /// Responses are longer by the jitter, but jobs are not seen closer together.
    OfResponses,
}

/// A small system and its host.
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

    /// Returns a case whose tasks have jitter; every second case has no host.
    fn with_jitter(number: u64) -> Self {
        let Self { system, host } = Self::numbered(number);
        let random = &mut generate::generator(SEED + 1, number);
        let of_task = |period| random.random_range(0..=5_u32.min(period - 1));
        let jitters: Vec<_> = system.tasks.iter().map(|task| task.period).map(of_task).collect();
        let is_alone = number.is_multiple_of(2);
        let host = if is_alone { HostTime::default() } else { host };
        Self { system: system.with_jitters(&jitters), host }
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

    /// Returns the system as the policy sees it, computed as in the model; `None` if the host's
    /// times use up the period of a task.
    fn behind(&self, host: HostTime, known: Jitter) -> Option<System> {
        let tick = Duration::from_ns(1);
        let system = self.system.to_analysis(tick);
        let jitters = self.system.tasks.iter().map(|task| match known {
            Jitter::Counted => tick * u64::from(task.jitter),
            Jitter::Ignored | Jitter::OfResponses => Duration::ZERO,
        });
        let tasks = system.tasks.iter().zip(jitters).map(|(task, jitter)| Task {
            requests: task.requests,
            jitter,
            // The deadline is long, so that only the bound is examined.
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

/// Returns the first response that exceeds a bound, and how many bounds were compared and reached.
/// The bounds contain the host's times `of_bound`.
fn broken(case: &Case, of_bound: HostTime, known: Jitter) -> (Option<String>, u32, u32) {
    let (mut compared, mut reached) = (0, 0);
    let Some(longest) = case.longest() else { return (None, 0, 0) };
    let Some(system) = case.behind(of_bound, known) else { return (None, 0, 0) };
    for (name, bound) in BOUNDS {
        if name == "min_period" && system.best_effort_fill > 0 {
            continue;
        }
        let Ok(verdicts) = bound(&system) else { continue };
        for (task, verdict) in verdicts.iter().enumerate() {
            let Verdict::Bounded(bound) = verdict else { continue };
            let jitter = match known {
                Jitter::Counted | Jitter::OfResponses => case.system.tasks[task].jitter,
                Jitter::Ignored => 0,
            };
            let bound = bound.ns() + of_bound.around_policy().ns() + u64::from(jitter);
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
        let (broken, of_case, reached_in_case) = broken(&case, case.host, Jitter::Counted);
        assert_eq!(broken, None, "number {number}");
        compared += of_case;
        reached += reached_in_case;
    }
    println!("{compared} bounds compared, {reached} reached");
    assert!(compared >= 1_000 && reached >= 200, "too few: {compared}, {reached}");
}

#[test]
fn no_schedule_of_a_small_system_exceeds_a_bound_with_jitter() {
    let (mut compared, mut reached) = (0, 0);
    for number in 0..600 {
        let case = Case::with_jitter(number);
        let (broken, of_case, reached_in_case) = broken(&case, case.host, Jitter::Counted);
        assert_eq!(broken, None, "number {number}");
        compared += of_case;
        reached += reached_in_case;
    }
    println!("{compared} bounds compared, {reached} reached");
    assert!(compared >= 1_000 && reached >= 100, "too few: {compared}, {reached}");
}

/// Canaries of the search with jitter: the bound ignores it, or counts it only in responses.
#[test]
fn a_bound_of_a_small_system_that_ignores_jitter_is_caught() {
    for known in [Jitter::Ignored, Jitter::OfResponses] {
        let caught = (0..600).find_map(|number| {
            let case = Case::with_jitter(number);
            broken(&case, case.host, known).0
        });
        let caught = caught.unwrap_or_else(|| panic!("{known:?}: nothing is caught"));
        println!("{known:?}: caught, {caught}");
    }
}

/// Canaries of the search: the bound omits one time, or the jitter's effect on periods.
#[test]
fn a_bound_of_a_small_system_without_one_of_the_hosts_times_is_caught() {
    type Less = fn(HostTime) -> HostTime;
    let less: [(&str, Less); 3] = [
        ("J", |host| HostTime { release: Duration::ZERO, ..host }),
        ("h", |host| HostTime { submit: Duration::ZERO, complete: Duration::ZERO, ..host }),
        // The bound contains J once, but ignores that jobs can be seen less than a period apart.
        ("p - J", |host| HostTime {
            release: Duration::ZERO,
            reply: host.reply + host.release,
            ..host
        }),
    ];
    for (name, less) in less {
        let caught = (0..600).find_map(|number| {
            let case = Case::numbered(number);
            broken(&case, less(case.host), Jitter::Counted).0
        });
        let caught = caught.unwrap_or_else(|| panic!("without {name}: nothing is caught"));
        println!("without {name}: caught, {caught}");
    }
}
