// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests workload files: values read, and refused values with their position.

use crate::common::Fault;
use tidegate_model::parameters::{GroupRule, PriorityTag};
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{
    BatchChoice, Bytes, Class, DriveFile, Duration, FileError, Host, HostTime, Intensity, Op,
    Place, Plan, PolicyName, PremiseCode, Slowdown, Workload,
};

const DRIVE: &str = r#"
name = "test drive"
kind = "pseudo"
depth = 4
[[batch]]
op = "read"
size = "128KiB"
ns_max = [5_000_000, 8_000_000, 7_000_000]
[[batch]]
op = "read"
size = "256KiB"
ns_max = [6_000_000, 9_000_000, 12_000_000]
[[batch]]
op = "write"
size = "256KiB"
ns_max = [10_000_000, 20_000_000]
"#;

const CAMERA: &str = r#"
drive = "test drive"
[[task]]
name = "camera"
period = "300ms"
size = "128KiB"
"#;

/// Checks that the workload has a premise of this code with this text in it.
#[track_caller]
fn says(workload: &Workload, code: PremiseCode, text: &str) {
    let mut of_code = workload.premises.iter().filter(|premise| premise.code == code);
    assert!(of_code.any(|premise| premise.text.contains(text)), "{:?}", workload.premises);
}

fn bind(text: &str) -> Result<Workload, FileError> {
    WorkloadFile::parse(text)?.bind(&DriveFile::parse(DRIVE).unwrap())
}

/// Returns the fault of `CAMERA` after a replacement.
fn refusal(from: &str, to: &str) -> Fault {
    assert!(CAMERA.contains(from));
    refused(&CAMERA.replace(from, to))
}

fn refused(text: &str) -> Fault {
    Fault::of(text, bind)
}

#[test]
fn defaults_are_those_of_the_manual() {
    let workload = bind(CAMERA).unwrap();
    assert_eq!((workload.policy, workload.batch), (PolicyName::Dqf, BatchChoice::Auto));
    let task = &workload.tasks[0];
    assert_eq!(task.name, "camera");
    assert_eq!(task.deadline, Duration::from_ms(300));
    assert_eq!((task.requests, task.op, task.place), (1, Op::Read, Place::Random));
    assert_eq!((task.offset, task.class), (Duration::ZERO, Class::Hard));
}

#[test]
fn everything_that_can_be_written_is_read() {
    let workload = bind(
        r#"
        drive = "test drive"
        [policy]
        name = "fifo"
        batch = 2
        regulators = []
        [[task]]
        name = "camera"
        count = 2
        period = "18.75ms"
        deadline = "1s 500ms"
        requests = 3
        size = "4KiB"
        op = "read"
        place = { from = "0%", to = "20.5%" }
        offset = { step = "2ms" }
        class = "soft"
        [[task]]
        name = "meter"
        count = 1
        period = "1s"
        size = "512B"
        place = "sequential"
        offset = ["7us"]
        [[best_effort]]
        name = "backup"
        outstanding = 450
        size = "128KiB"
        [[best_effort]]
        name = "copy"
        rate = "8MB/s"
        size = "64KiB"
        "#,
    )
    .unwrap();
    assert_eq!((workload.policy, workload.batch), (PolicyName::Fifo, BatchChoice::Fixed(2)));
    let names: Vec<&str> = workload.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["camera-1", "camera-2", "meter-1"]);
    assert_eq!(workload.tasks[0].period, Duration::from_ns(18_750_000));
    assert_eq!(workload.tasks[1].offset, Duration::from_ms(2));
    assert_eq!(workload.tasks[1].deadline, Duration::from_ms(1500));
    assert_eq!(workload.tasks[0].place, Place::Range { from_ppm: 0, to_ppm: 205_000 });
    assert_eq!(workload.tasks[2].offset, Duration::from_us(7));
    assert_eq!(workload.tasks[2].size, Bytes::new(512));
    assert_eq!(workload.best_effort[0].intensity, Intensity::Outstanding(450));
    let Intensity::Rate(rate) = workload.best_effort[1].intensity else { panic!("a rate") };
    assert_eq!(rate.bytes_per_s(), 8_000_000);
}

#[test]
fn two_tasks_of_one_name_are_refused() {
    let again = format!("{CAMERA}[[task]]\nname = \"camera\"\nperiod = \"1s\"\nsize = \"4KiB\"\n");
    let Fault { message, place, .. } = refused(&again);
    assert_eq!([&*message, &*place], ["this is a second source named `camera`", "\"camera\""]);
    let expanded = "drive = \"x\"\n[[task]]\nname = \"a-1\"\nperiod = \"1s\"\nsize = \"4KiB\"\n\
                    [[task]]\nname = \"a\"\ncount = 1\nperiod = \"1s\"\nsize = \"4KiB\"\n";
    assert_eq!(refused(expanded).message, "this is a second source named `a-1` after expansion");
}

#[test]
fn a_batch_beyond_the_table_is_refused() {
    let text = CAMERA.replace("[[task]]", "[policy]\nname = \"dqf\"\nbatch = 4\n[[task]]");
    refused(&text).says("a batch of 4 is larger than the table", "4", "at most 3");
    assert_eq!(refused(&text.replace("batch = 4", "batch = 0")).place, "0");
}

#[test]
fn a_smaller_request_is_charged_as_the_next_larger_and_says_so() {
    let workload = bind(&CAMERA.replace("128KiB", "200KiB")).unwrap();
    assert_eq!(workload.table.time_max(1), Duration::from_ms(6));
    says(&workload, PremiseCode::LargerSize, "charged as 256KiB");
}

#[test]
fn best_effort_decides_the_table_too() {
    let load = "[[best_effort]]\nname = \"backup\"\noutstanding = 1\nsize = \"256KiB\"\n";
    let workload = bind(&format!("{CAMERA}{load}")).unwrap();
    assert_eq!(workload.table.time_max(1), Duration::from_ms(6));
}

#[test]
fn a_table_that_dips_is_used_through_its_running_maximum_and_says_so() {
    let workload = bind(CAMERA).unwrap();
    assert_eq!(workload.table.time_max(3), Duration::from_ms(8));
    says(&workload, PremiseCode::RunningMaximum, "not monotone: b(3)");
}

/// The maximum over i + j = n of b_read(i) + b_write(j), up to the shorter table.
#[test]
fn reads_and_writes_together_are_charged_as_the_worst_split_and_say_so() {
    let write = "[[task]]\nname = \"log\"\nperiod = \"1s\"\nsize = \"256KiB\"\nop = \"write\"\n";
    let workload = bind(&format!("{CAMERA}{write}")).unwrap();
    assert_eq!(workload.table.batch_max(), 2);
    assert_eq!(workload.table.time_max(1), Duration::from_ms(10));
    assert_eq!(workload.table.time_max(2), Duration::from_ms(20));
    says(&workload, PremiseCode::MixedUnmeasured, "reads and writes");
    let large = refusal("size = \"128KiB\"", "size = \"512KiB\"\nop = \"write\"");
    large.says("writes of 256KiB", "\"512KiB\"", "");
    assert!(!large.help.is_empty());
}

#[test]
fn an_operation_that_was_never_measured_is_refused() {
    let reads_only = DRIVE.split("[[batch]]\nop = \"write\"").next().unwrap();
    let text = CAMERA.replace("size", "op = \"write\"\nsize");
    let drive = DriveFile::parse(reads_only).unwrap();
    let fault = Fault::of(&text, |text| WorkloadFile::parse(text).unwrap().bind(&drive));
    fault.says("no measurements of writes", "\"write\"", "");
}

#[test]
fn an_inline_drive_holds_for_every_request() {
    let text = "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [5_000_000, 8_000_000]\n\
                [[task]]\nname = \"a\"\nperiod = \"1s\"\nsize = \"1GiB\"\nop = \"write\"\n\
                [[task]]\nname = \"b\"\nperiod = \"1s\"\nsize = \"4KiB\"\n";
    let file = WorkloadFile::parse(text).unwrap();
    let tidegate_model::workload_file::DriveReference::Inline(drive) = &file.drive else {
        panic!("an inline drive")
    };
    let workload = file.bind(drive).unwrap();
    assert_eq!((workload.depth, workload.table.batch_max()), (2, 2));
    assert_eq!(workload.table.time_max(2), Duration::from_ms(8));
    let codes: Vec<_> = workload.premises.iter().map(|premise| premise.code).collect();
    assert_eq!(codes, [PremiseCode::Chosen]);
}

#[test]
fn slips_of_the_pen_are_refused_with_their_place() {
    for (from, to, message, place) in [
        ("\"300ms\"", "\"300\"", "has no unit", "\"300\""),
        ("\"128KiB\"", "\"128ms\"", "`128ms` is not a size", "\"128ms\""),
        ("\"300ms\"", "\"1M\"", "is not one of its units", "\"1M\""),
        ("\"300ms\"", "\"300m\"", "is not one of its units", "\"300m\""),
        ("\"300ms\"", "\"2weeks\"", "is not one of its units", "\"2weeks\""),
        ("\"128KiB\"", "\"128K\"", "is not one of its units", "\"128K\""),
        ("\"128KiB\"", "\"128kib\"", "is not one of its units", "\"128kib\""),
        ("\"300ms\"", "\"-300ms\"", "cannot be negative", "\"-300ms\""),
        ("\"300ms\"", "-300", "cannot be negative", "-300"),
        ("\"300ms\"", "\"0ms\"", "the period is zero", "\"0ms\""),
        ("period", "perido", "unknown field `perido`", "perido"),
        ("size = \"128KiB\"", "size = \"1000B\"", "whole sectors", "\"1000B\""),
        ("size", "count = 0\nsize", "count is 0", "0"),
        ("size", "requests = 0\nsize", "a job of 0 requests", "0"),
        ("size", "place = \"left\"\nsize", "`left` is not a place", "\"left\""),
        ("size", "op = \"erase\"\nsize", "unknown variant `erase`", "\"erase\""),
        (
            "size",
            "offset = [\"1ms\", \"2ms\"]\nsize",
            "the list has 2 offsets, but the entry has 1 tasks",
            "[\"1ms\", \"2ms\"]",
        ),
        (
            "size",
            "place = { from = \"20%\", to = \"20%\" }\nsize",
            "ends before it starts",
            "{ from = \"20%\", to = \"20%\" }",
        ),
        (
            "[[task]]",
            "[policy]\nname = \"lottery\"\n[[task]]",
            "no policy `lottery`",
            "\"lottery\"",
        ),
        (
            "[[task]]",
            "[policy]\nname = \"dqf\"\nregulators = [\"x\"]\n[[task]]",
            "no regulator `x`",
            "\"x\"",
        ),
        (
            "[[task]]",
            "[policy]\nname = \"dqf\"\nbatch = \"big\"\n[[task]]",
            "`big` is not a number of requests",
            "\"big\"",
        ),
        (
            "[[task]]",
            "[policy]\nname = \"dqf\"\nbest_effort_depth = 0\n[[task]]",
            "best_effort_depth is 0",
            "0",
        ),
    ] {
        refusal(from, to).says(message, place, "");
    }
    assert_eq!(refusal("\"300ms\"", "\"0ms\"").message, "the period is zero");
    let unmeasured = "larger than every measured size";
    for (from, to, message, place, help) in [
        ("\"300ms\"", "300", "`300` has no unit", "300", "\"300ms\""),
        (
            "\"300ms\"",
            "\"300KiB\"",
            "`300KiB` is not a duration",
            "\"300KiB\"",
            "units: ns, us, ms",
        ),
        ("\"128KiB\"", "\"512KiB\"", unmeasured, "\"512KiB\"", "--size 512KiB"),
        ("\"128KiB\"", "\"512KiB\"", "256KiB", "\"512KiB\"", "--size 512KiB"),
    ] {
        refusal(from, to).says(message, place, help);
    }
}

#[test]
fn the_group_of_g_edf_is_a_share() {
    let file = |policy: &str| {
        format!(
            "drive = \"x\"\n{policy}[[best_effort]]\nname = \"b\"\noutstanding = 1\nsize = \"4KiB\"\n"
        )
    };
    let group_ppm = |policy: &str| bind(&file(policy)).unwrap().parameters.group_edf.group_ppm;
    assert_eq!(group_ppm(""), 400_000);
    assert_eq!(
        group_ppm("[policy]\nname = \"g-edf\"\n[policy.g-edf]\ngroup = \"12.5%\"\n"),
        125_000
    );
    let order = |line: &str| {
        let policy = format!("[policy]\nname = \"g-edf\"\n[policy.g-edf]\n{line}\n");
        bind(&file(&policy)).unwrap().parameters.group_edf.order
    };
    assert_eq!(order("order = \"nearest\""), GroupRule::Nearest);
    assert_eq!(order("group = \"1%\""), GroupRule::Smallest);
    let wrong = |line: &str| {
        refused(&file(&format!("[policy]\nname = \"g-edf\"\n[policy.g-edf]\n{line}\n"))).message
    };
    assert!(wrong("group = 40").contains("no unit"));
    assert!(wrong("group = \"140%\"").contains("more than 100%"));
    assert!(wrong("size = \"40%\"").contains("unknown field"));
}

#[test]
fn a_load_is_closed_open_or_both() {
    let load = "drive = \"x\"\n[[best_effort]]\nname = \"b\"\nsize = \"4KiB\"\n";
    assert!(refused(load).message.contains("none of `outstanding`, `rate` and `period`"));
    let both = format!("{load}outstanding = 0\nrate = \"1MB/s\"\n");
    assert!(refused(&both).message.contains("the load does nothing"));
    let unit = refused(&format!("{load}rate = \"1MB\"\n")).message;
    assert!(unit.contains("`MB` is not one of its units"), "{unit}");
    let nothing = refused("drive = \"x\"\n").message;
    assert!(nothing.contains("neither a [[task]] nor a [[best_effort]]"), "{nothing}");
}

#[test]
fn units_may_be_written_in_several_ways() {
    let micro = bind(&CAMERA.replace("\"300ms\"", "\"300µs\"")).unwrap();
    assert_eq!(micro.tasks[0].period, Duration::from_us(300));
    let spaced = bind(&CAMERA.replace("\"300ms\"", "\"1 s 500 ms\"")).unwrap();
    assert_eq!(spaced.tasks[0].period, Duration::from_ms(1500));
}

/// Figures that would overflow or exhaust memory are refused at their position.
#[test]
fn figures_beyond_all_measure_are_refused() {
    let century = format!("\"{}h\"", 100 * 366 * 24);
    let offset = format!("count = 3\noffset = {{ step = {century} }}\nsize");
    for (from, to, said) in [
        ("\"300ms\"", &*century, "the period exceeds 36 years"),
        ("size", &*offset, "the last offset exceeds 36 years"),
        ("size", "count = 200000\nsize", "more than 100000 tasks"),
        ("\"camera\"", "\"a\\u001Bb\"", "control characters"),
    ] {
        let fault = refusal(from, to);
        assert!(fault.message.contains(said), "{fault:?}");
    }
    let load = "drive = \"x\"\n[[best_effort]]\nname = \"b\"\nsize = \"4KiB\"\n";
    let many = refused(&format!("{load}outstanding = 4000000000\n"));
    many.says("release 4000000000 requests at one instant", "4000000000", "a few dozen");
    let fast = refused(&format!("{load}rate = \"18TB/s\"\n"));
    assert!(fast.message.contains("a million requests"), "{fast:?}");
}

#[test]
fn brackets_and_doubles_are_named_as_such() {
    let Fault { help, .. } = refusal("[[task]]", "[task]");
    assert!(help.contains("two brackets"), "{help}");
    let Fault { message, help, .. } = refusal("size", "name = \"b\"\nsize");
    assert!(message.contains("duplicate key") && help.contains("keep one"), "{message}: {help}");
}

#[test]
fn tag_of_rtio_priority_is_read_and_priority_where_none_is_given() {
    let tag = |policy: &str| {
        let workload = bind(&format!("{CAMERA}[policy]\nname = \"rtio-priority\"\n{policy}"));
        workload.unwrap().parameters.rtio_priority.tag
    };
    assert_eq!(tag(""), PriorityTag::Priority);
    assert_eq!(tag("[policy.rtio-priority]\n"), PriorityTag::Priority);
    assert_eq!(tag("[policy.rtio-priority]\ntag = \"head-of-queue\"\n"), PriorityTag::HeadOfQueue);
}

#[test]
fn tag_of_rtio_priority_that_no_drive_knows_is_refused() {
    let text = format!(
        "{CAMERA}[policy]\nname = \"rtio-priority\"\n[policy.rtio-priority]\ntag = \"urgent\"\n"
    );
    refused(&text).says("urgent", "\"urgent\"", "head-of-queue");
    let misspelt = text.replace("tag", "tga").replace("urgent", "priority");
    assert!(refused(&misspelt).message.contains("tga"));
}

#[test]
fn depth_limit_is_read_and_has_to_be_said() {
    let policy =
        "drive = \"test drive\"\n[policy]\nname = \"noop\"\nregulators = [\"depth-limit\"]\n";
    let with =
        |limit: &str| CAMERA.replace("drive = \"test drive\"\n", &format!("{policy}{limit}"));
    let limited = bind(&with("[policy.depth-limit]\nin_flight = 3\n")).unwrap();
    let in_flight_max = limited.parameters.depth_limit.in_flight_max;
    assert_eq!(in_flight_max.map(std::num::NonZeroU32::get), Some(3));

    refused(&with("")).says("the number of requests", "\"depth-limit\"", "in_flight = 8");
    refused(&with("[policy.depth-limit]\nin_flight = 0\n")).says("in_flight is 0", "0", "");
}

/// The workload keeps the drive's own times; the plan is made for the times with the margin.
#[test]
fn a_margin_is_kept_beside_the_table_and_reaches_the_plan() {
    let text = format!("{CAMERA}[policy]\nname = \"dqf\"\nmargin = \"10%\"\n");
    let (plain, with) = (bind(CAMERA).unwrap(), bind(&text).unwrap());
    assert_eq!((plain.margin_ppm, with.margin_ppm), (0, 100_000));
    assert_eq!(plain.table, with.table);
    let slower = Slowdown::by_ppm(100_000).of_table(&plain.table);
    assert_eq!((&with.planned().table, with.planned().margin_ppm), (&slower, 0));
    let made = Plan::of(&with);
    assert_eq!((&made.table, &made.limits.measured.batches.table), (&slower, &plain.table));
    assert_eq!(made.limits.tolerated.batches.table, slower);
    assert_eq!(*plain.planned(), plain);
}

#[test]
fn a_margin_is_a_share_with_its_unit() {
    let of = |margin: &str| format!("{CAMERA}[policy]\nname = \"dqf\"\nmargin = {margin}\n");
    refused(&of("0.1")).says("`0.1` has no unit", "0.1", "\"20%\"");
    assert!(refused(&of("\"101%\"")).message.contains("more than 100%"));
}

const HOST: &str =
    "[host]\nrelease = \"3ms\"\nsubmit = \"1ms\"\ncomplete = \"2ms\"\nreply = \"4ms\"\n";

/// The workload keeps the drive's times and its tasks' contracts; plan and limits are made for the
/// drive and the tasks behind the host.
#[test]
fn the_hosts_time_is_kept_beside_the_workload_and_reaches_the_plan() {
    let ms = Duration::from_ms;
    let (plain, with) = (bind(CAMERA).unwrap(), bind(&format!("{CAMERA}{HOST}")).unwrap());
    let host = HostTime { release: ms(3), submit: ms(1), complete: ms(2), reply: ms(4) };
    assert_eq!((plain.host, with.host), (Host::Unstated, Host::Stated(host)));
    assert_eq!((&plain.table, &plain.tasks), (&with.table, &with.tasks));

    let planned = with.planned();
    assert_eq!(planned.host, Host::Charged(Some(host)));
    assert_eq!(planned.table, Slowdown::by(ms(3)).of_table(&plain.table));
    assert_eq!((planned.tasks[0].period, planned.tasks[0].deadline), (ms(297), ms(293)));
    assert_eq!(planned.planned(), planned, "the host is charged once");
    let made = Plan::of(&with);
    assert_eq!((&made.tasks, &made.table), (&planned.tasks, &planned.table));
    assert_eq!(made.limits.measured.batches.table, planned.table);
    assert_eq!(made.limits.tolerated.batches.table, planned.table);
}

/// The margin is the drive's: it does not lengthen the host's time.
#[test]
fn a_margin_is_planned_before_the_hosts_time_is_charged() {
    let margin = "[policy]\nname = \"dqf\"\nmargin = \"10%\"\n";
    let with = bind(&format!("{CAMERA}{margin}{HOST}")).unwrap();
    let slower = Slowdown { factor_ppm: 100_000, added: Duration::from_ms(3) };
    assert_eq!(with.planned().table, slower.of_table(&with.table));
}

#[test]
fn a_task_of_which_the_host_leaves_nothing_voids_every_verdict() {
    for (deadline, is_left) in [("8ms", true), ("7ms", false), ("6ms", false)] {
        let text = CAMERA.replace("300ms\"", &format!("300ms\"\ndeadline = \"{deadline}\""));
        let planned = bind(&format!("{text}{HOST}")).unwrap().planned().into_owned();
        let void = planned.premises.void().map(|premise| premise.code);
        assert_eq!(void, (!is_left).then_some(PremiseCode::HostTimeTooLong), "{deadline}");
    }
}

#[test]
fn faults_of_the_host_are_named_where_they_stand() {
    let of = |from: &str, to: &str| {
        assert!(HOST.contains(from), "{from}");
        refused(&format!("{CAMERA}{}", HOST.replace(from, to)))
    };
    of("\"3ms\"", "3").says("`3` has no unit", "3", "ms");
    of("reply = \"4ms\"\n", "").says("missing field `reply`", HOST_WITHOUT_REPLY, "");
    of("reply", "replay").says("unknown field `replay`", "replay", "did you mean `reply`");
    of("\"4ms\"", "\"37 years\"").says("years", "\"37 years\"", "");
    of("\"4ms\"", "\"20000days\"").says("the host's `reply` exceeds 36 years", "\"20000days\"", "");

    let with = |lines: &str| refused(&format!("{CAMERA}{HOST}[host.interference]\n{lines}"));
    with("priority = 50\n").says("missing field `file`", "[host.interference]", "");
    with("file = \"x\"\n").says("missing field `priority`", "[host.interference]", "");
    with("file = \"x\"\npriority = 0\n").says("no such real-time priority", "0", "1 to 99");
    with("file = \"x\"\npriority = 5\nbound = \"line\"\n").says(
        "there is no bound of interference `line`",
        "\"line\"",
        "demand, load, points",
    );
    with("file = \"x\"\npriority = 5\nfiel = 1\n").says("unknown field `fiel`", "fiel", "`file`");
    // The caller that reads the file adds the interference; until then the file is refused.
    with("file = \"x\"\npriority = 5\n").says("the processor profile x was not read", "\"x\"", "");
}

/// The position of a missing field: the header of its table.
const HOST_WITHOUT_REPLY: &str = "[host]";
