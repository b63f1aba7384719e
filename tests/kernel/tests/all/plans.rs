// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the kernel refuses a plan that its policies cannot follow, with the reason. Method: a plan
//! that the kernel accepts, with one value changed at a time.

use tidegate_kernel::kernel_policy::KernelPolicy;
use tidegate_kernel::library::Objects;
use tidegate_kernel::random;
use tidegate_model::{
    BatchTable, Bytes, Class, Duration, Plan, PolicyName, Request, RequestId, Task, Time, Workload,
};
use tidegate_policy::{Decision, Event, Policy};

fn table(count: u64) -> BatchTable {
    let times: Vec<Duration> = (1..=count).map(|n| Duration::from_ms(5 + 5 * n)).collect();
    BatchTable::new(&times).expect("valid times")
}

fn plan() -> Plan {
    let mut workload = Workload::new("test", 4, table(4));
    workload.contracts.drain = Some(table(4));
    workload.tasks = vec![Task::periodic("task", Duration::from_ms(100), Bytes::from_kib(4))];
    Plan { best_effort_fill: 2, ..Plan::of(&workload) }
}

/// A change that invalidates the plan, a policy that cannot follow the changed plan, and the
/// kernel's reason.
type Case = (PolicyName, fn(&mut Plan), &'static str);

const CASES: [Case; 10] = [
    (PolicyName::Dqf, |plan| plan.depth = 0, "the device must accept at least one request"),
    (PolicyName::Dqf, |plan| plan.batch_max = 0, "a batch has 1 to depth requests"),
    (PolicyName::Dqf, |plan| plan.batch_max = 5, "a batch has 1 to depth requests"),
    (
        PolicyName::Dqf,
        |plan| plan.best_effort_fill = 5,
        "best effort fills a batch up to its largest size at most",
    ),
    (
        PolicyName::RtioLimit,
        |plan| plan.best_effort_depth = 5,
        "best effort cannot have more places than the device",
    ),
    (
        PolicyName::Dqf,
        |plan| plan.table = table(3),
        "dqf needs the time of each batch that it may send",
    ),
    (
        PolicyName::AdaptiveDrain,
        |plan| plan.contracts.drain = None,
        "a drain policy needs drain times",
    ),
    (
        PolicyName::Dqf,
        |plan| plan.table = BatchTable::new(&[Duration::from_ns(1 << 60)]).expect("a time"),
        "a table has times in ns, none shorter than the one before",
    ),
    (
        PolicyName::GatedDrain,
        |plan| plan.tasks[0].period = Duration::ZERO,
        "a task needs a period and a deadline, in ns",
    ),
    (
        PolicyName::GatedDrain,
        |plan| plan.tasks[0].requests = 0,
        "a job of a task has at least one request",
    ),
];

#[test]
fn a_wrong_plan_is_refused_with_its_reason() {
    let Some(objects) = Objects::compile() else { return println!("skipped: cc is not installed") };
    let library = objects.load();
    for (policy, spoil, reason) in CASES {
        let mut wrong = plan();
        assert_eq!(KernelPolicy::new(library, policy, &wrong).err(), None, "{policy}");
        spoil(&mut wrong);
        assert_eq!(KernelPolicy::new(library, policy, &wrong).err().as_deref(), Some(reason));
    }
}

/// Goal: the kernel identifies the plans under which best effort can wait forever. Method: all
/// tasks pause and the device is idle; under every other plan, a best-effort request is sent.
#[test]
fn a_plan_that_starves_best_effort_is_known() {
    let Some(objects) = Objects::compile() else { return println!("skipped: cc is not installed") };
    let library = objects.load();
    let mut counts = [0; 2];
    for seed in 0..5_000 {
        let (name, plan) = random::plan(seed);
        let mut policy = KernelPolicy::new(library, name, &plan).expect("a valid plan");
        let request = Request::plain(RequestId(1), Class::BestEffort, Bytes::from_kib(4));
        policy.observe(Time::ZERO, Event::Release(request)).expect("room");
        let is_sent = matches!(policy.decide(Time::ZERO), Decision::Dispatch { .. });
        assert_eq!(policy.serves_best_effort(), is_sent, "seed {seed}, {name}: {plan:?}");
        counts[usize::from(is_sent)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
}
