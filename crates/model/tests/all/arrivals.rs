// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Arrivals and jitter of tasks: values read, refused values, and the tasks that a policy sees.

use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{
    Arrivals, DriveFile, Duration, FileError, Host, HostTime, Plan, PremiseCode, Workload,
};

use crate::common::Fault;

const DRIVE: &str = "name = \"d\"\nkind = \"pseudo\"\ndepth = 2\n[[batch]]\nop = \"read\"\n\
                     size = \"4KiB\"\nns_max = [5_000_000, 8_000_000]\n";

const HOST: HostTime = HostTime {
    release: Duration::from_ms(3),
    submit: Duration::from_ms(1),
    complete: Duration::from_ms(2),
    reply: Duration::from_ms(4),
};

fn bind(text: &str) -> Result<Workload, FileError> {
    WorkloadFile::parse(text)?.bind(&DriveFile::parse(DRIVE).unwrap())
}

/// Returns a file with these lines in its only task, of period 300 ms.
fn file(lines: &str) -> String {
    format!("drive = \"d\"\n[[task]]\nname = \"t\"\nperiod = \"300ms\"\nsize = \"4KiB\"\n{lines}")
}

fn read(lines: &str) -> Workload {
    bind(&file(lines)).unwrap()
}

#[test]
fn arrivals_are_periodic_without_jitter_unless_the_file_says_otherwise() {
    let arrivals = |lines: &str| read(lines).tasks[0].arrivals;
    assert_eq!(arrivals(""), Arrivals::Periodic);
    assert_eq!(arrivals("arrivals = \"periodic\""), Arrivals::Periodic);
    let extra_max = Duration::from_ms(300);
    assert_eq!(arrivals("arrivals = \"sporadic\""), Arrivals::Sporadic { extra_max });
    assert_eq!(arrivals("arrivals = \"bunched\"\ncount = 2"), Arrivals::Bunched);
    assert_eq!(read("").tasks[0].jitter, Duration::ZERO);
    assert_eq!(read("jitter = \"5ms\"").tasks[0].jitter, Duration::from_ms(5));
}

#[test]
fn faults_are_named_where_they_stand() {
    let of = |lines: &str| Fault::of(&file(lines), bind);
    of("arrivals = \"often\"").says("unknown variant `often`", "\"often\"", "");
    of("jitter = 5").says("`5` has no unit", "5", "ms");
    let below_period = "the jitter of 300ms is not below the period of 300ms";
    let no_bound = "write a jitter below the period: no bound is known for a longer one";
    of("jitter = \"300ms\"").says(below_period, "\"300ms\"", no_bound);
    let below_deadline = "the jitter of 20ms is not below the deadline of 20ms";
    of("deadline = \"20ms\"\njitter = \"20ms\"").says(
        below_deadline,
        "\"20ms\"",
        "below the deadline",
    );
    let bunched = "bunched tasks choose their own instants, so `offset` has no effect";
    of("arrivals = \"bunched\"\noffset = \"1ms\"").says(bunched, "\"1ms\"", "delete the line");
    let bunched = "bunched tasks choose their own instants, so `outstanding` has no effect";
    of("arrivals = \"bunched\"\noutstanding = 2").says(bunched, "2", "sporadic");
}

/// The workload keeps the file's figures. Plan and limits are made for the tasks as the policy sees
/// them, and nothing is charged twice.
#[test]
fn a_policy_sees_shorter_periods_and_deadlines_by_the_jitter() {
    let ms = Duration::from_ms;
    let with = read("jitter = \"50ms\"\ndeadline = \"200ms\"");
    assert_eq!((with.tasks[0].period, with.tasks[0].deadline), (ms(300), ms(200)));
    let planned = with.planned();
    assert_eq!((planned.tasks[0].period, planned.tasks[0].deadline), (ms(250), ms(150)));
    assert_eq!((planned.host, &planned.table), (Host::Charged(None), &with.table));
    assert_eq!(planned.planned(), planned, "the jitter is charged once");
    assert_eq!(Plan::of(&with).tasks, planned.tasks);
    assert_eq!(with.around_policy().collect::<Vec<_>>(), [ms(50)]);

    let plain = read("");
    assert_eq!(*plain.planned(), plain);
}

/// Jitter and the host's `release` add up to one delay before the policy.
#[test]
fn jitter_comes_before_the_hosts_time() {
    let ms = Duration::from_ms;
    let host = Host::Stated(HOST);
    let with = Workload { host, ..read("jitter = \"50ms\"") };
    let planned = with.planned();
    assert_eq!((planned.tasks[0].period, planned.tasks[0].deadline), (ms(247), ms(243)));
    assert_eq!(with.around_policy().collect::<Vec<_>>(), [ms(57)]);
    assert_eq!(planned.around_policy().collect::<Vec<_>>(), [ms(57)], "said of charged tasks too");

    let with = Workload { host, ..read("jitter = \"297ms\"") };
    let planned = with.planned();
    let void = planned.premises.void().expect("3 ms of host and 297 ms of jitter take the period");
    assert_eq!(void.code, PremiseCode::HostTimeTooLong);
    for part in ["takes up to 300ms with the task's jitter", "in [host] or its `jitter` shorter"] {
        assert!(void.text.contains(part), "{}", void.text);
    }
}

/// Buffers cover the client's response, which is longer than the policy's by the jitter.
#[test]
fn buffers_are_full_until_the_client_has_the_answer() {
    let ms = Duration::from_ms;
    let with = read("jitter = \"50ms\"\noutstanding = 1\ndeadline = \"500ms\"");
    assert_eq!(with.planned().tasks[0].deadline, ms(250));
}
