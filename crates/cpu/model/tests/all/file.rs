// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests how the CPU tables of workload files are read, and that errors give their position.

use tidegate_cpu_model::MachineFile;
use tidegate_cpu_model::{
    Arrivals, Background, CpuWorkload, Execution, InterferenceBound, Priority, Scheduling,
    ServerKind, TaskArrivals,
};
use tidegate_model::WorkloadFile;
use tidegate_model::{Duration, FileError};

const MACHINE: &str = r#"
[cpu]
scheduling = "fixed-priority"
switch = "5us"
timer_latency = "50us"

[[cpu_task]]
name = "control"
period = "10ms"
execution = "2ms"
priority = 20

[[cpu_server]]
name = "net"
kind = "sporadic"
budget = "1ms"
period = "10ms"
priority = 30
replenishments = 8
preemption_charge = "10us"
background = 1

[[cpu_work]]
name = "packets"
server = "net"
gap = "250us"
execution = "8us"
"#;

fn read(text: &str) -> Result<CpuWorkload, FileError> {
    Ok(MachineFile::parse(text)?.cpu.expect("the file has a processor"))
}

/// Replaces text in `MACHINE` and returns the resulting error: its message and the text it points
/// at.
fn refusal(from: &str, to: &str) -> (String, String) {
    assert!(MACHINE.contains(from), "{from}");
    let text = MACHINE.replacen(from, to, 1);
    let error = read(&text).expect_err("the file must be refused");
    assert!(error.help.is_some(), "{error:?}");
    (error.message, text[error.span].to_owned())
}

#[test]
fn defaults_are_those_of_the_manual() {
    let cpu = read(MACHINE).unwrap();
    assert_eq!(cpu.scheduling, Scheduling::FixedPriority);
    assert_eq!((cpu.switch, cpu.timer_latency), (Duration::from_us(5), Duration::from_us(50)));
    let task = &cpu.tasks[0];
    assert_eq!((task.deadline, task.priority), (Duration::from_ms(10), Priority(20)));
    assert_eq!((task.jitter, task.blocking), (Duration::ZERO, Duration::ZERO));
    assert_eq!(task.arrivals, TaskArrivals::Periodic);
    let server = &cpu.servers[0];
    assert_eq!(server.params.kind, ServerKind::Sporadic);
    assert_eq!(server.params.replenishments_max, 8);
    assert_eq!(server.params.preemption_charge, Duration::from_us(10));
    assert_eq!(server.background, Background::At(Priority(1)));
    assert_eq!(server.blocking, Duration::ZERO);
    let work = &cpu.work[0];
    assert_eq!(work.server, 0);
    assert_eq!(work.arrivals, Arrivals::Poisson { gap_mean: Duration::from_us(250) });
    assert_eq!(work.execution, Execution::Fixed(Duration::from_us(8)));
    assert_eq!(work.deadline, None);
}

#[test]
fn a_file_may_hold_disk_and_processor() {
    let both = format!(
        "drive = \"d\"\n[[task]]\nname = \"control\"\nperiod = \"1s\"\nsize = \"4KiB\"\n{MACHINE}"
    );
    let machine = MachineFile::parse(&both).unwrap();
    assert!(machine.disk.is_some() && machine.cpu.is_some());
    let error = WorkloadFile::parse(MACHINE).unwrap_err();
    assert_eq!(error.message, "the workload has no disk part");
    // A drive that no task uses is a mistake, with or without a processor.
    let idle = MachineFile::parse(&format!("drive = \"d\"\n{MACHINE}")).unwrap_err();
    assert!(idle.message.contains("neither a [[task]]"), "{idle}");
}

#[test]
fn every_kind_of_arrival_is_read() {
    let with = |lines: &str| read(&MACHINE.replace("gap = \"250us\"", lines)).unwrap();
    let gap = Duration::from_ms(2);
    let cases = [
        ("arrivals = \"periodic\"\ngap = \"2ms\"", Arrivals::Periodic { period: gap }),
        ("arrivals = \"sporadic\"\ngap = \"2ms\"", Arrivals::Sporadic { gap_min: gap }),
        ("arrivals = \"poisson\"\ngap = \"2ms\"", Arrivals::Poisson { gap_mean: gap }),
        (
            "arrivals = \"bursty\"\nburst = 9\ngap = \"2ms\"",
            Arrivals::Bursty { burst: 9, gap_mean: gap },
        ),
        ("at = [\"0ms\", \"2ms\"]", Arrivals::At(vec![Duration::ZERO, gap])),
    ];
    for (lines, arrivals) in cases {
        assert_eq!(with(lines).work[0].arrivals, arrivals);
    }
    let drawn = with("gap = \"2ms\"\ndistribution = \"exponential\"");
    assert_eq!(drawn.work[0].execution, Execution::Exponential { mean: Duration::from_us(8) });
}

#[test]
fn under_edf_there_are_no_priorities() {
    let edf = MACHINE.replace("fixed-priority", "edf");
    let error = read(&edf).unwrap_err();
    assert_eq!(&edf[error.span.clone()], "20");
    let edf = edf
        .replace("priority = 20\n", "")
        .replace("priority = 30\n", "")
        .replace("background = 1\n", "");
    assert_eq!(read(&edf).unwrap().scheduling, Scheduling::Edf);
}

/// The periods are 40, 10, 20 and 10 ms, the deadlines 5, 10, 20 and (the server's) 10 ms. Under
/// both assignments the first of equals ranks higher, and every thread ranks above the background
/// level.
#[test]
fn priorities_are_assigned_by_period_or_deadline() {
    let others = "[[cpu_task]]\nname = \"slow\"\nperiod = \"40ms\"\ndeadline = \"5ms\"\n\
                  execution = \"1ms\"\n[[cpu_task]]\nname = \"middle\"\nperiod = \"20ms\"\n\
                  execution = \"1ms\"\n";
    let levels = |priorities: &str| {
        let machine = MACHINE
            .replace("priority = 20\n", "")
            .replace("priority = 30\n", "")
            .replace("switch =", &format!("priorities = \"{priorities}\"\nswitch ="));
        let cpu = read(&format!("{machine}{others}")).unwrap();
        let tasks = cpu.tasks.iter().map(|task| (task.name.clone(), task.priority.0));
        let servers = cpu.servers.iter().map(|server| (server.name.clone(), server.priority.0));
        let mut levels: Vec<_> = tasks.chain(servers).collect();
        levels.sort_by_key(|&(_, level)| level);
        levels.into_iter().map(|(name, level)| format!("{name} {level}")).collect::<Vec<_>>()
    };
    assert_eq!(levels("rate-monotonic"), ["slow 2", "middle 3", "net 4", "control 5"]);
    assert_eq!(levels("deadline-monotonic"), ["middle 2", "net 3", "control 4", "slow 5"]);
}

/// A file that assigns priorities must not state any, and must leave a level for each thread.
#[test]
fn assigned_priorities_are_not_written() {
    let assigned = MACHINE.replace("switch =", "priorities = \"rate-monotonic\"\nswitch =");
    let error = read(&assigned).unwrap_err();
    assert_eq!(&assigned[error.span.clone()], "20");
    assert!(error.message.starts_with("[cpu] assigns the priorities"), "{}", error.message);
    let unwritten = assigned.replace("priority = 20\n", "").replace("priority = 30\n", "");
    let full = unwritten.replace("background = 1\n", "background = 4294967294\n");
    assert!(read(&full).unwrap_err().message.starts_with("no levels are left"));
    let edf = unwritten.replace("fixed-priority", "edf").replace("background = 1\n", "");
    let error = read(&edf).unwrap_err();
    assert_eq!(&edf[error.span], "\"rate-monotonic\"");
}

#[test]
fn tasks_can_be_counted() {
    let cpu = read(&MACHINE.replace("priority = 20", "priority = 20\ncount = 3")).unwrap();
    let names: Vec<&str> = cpu.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["control-1", "control-2", "control-3"]);
}

#[test]
fn invalid_values_are_refused_with_their_places() {
    let refusals = [
        ("\"fixed-priority\"", "\"lottery\"", "there is no scheduling `lottery`", "\"lottery\""),
        ("\"2ms\"", "\"0ms\"", "the execution is zero", "\"0ms\""),
        (
            "switch =",
            "priorities = \"by-rate\"\nswitch =",
            "there is no assignment of priorities `by-rate`",
            "\"by-rate\"",
        ),
        ("priority = 20\n", "", "no priority is given", "\"control\""),
        ("\"sporadic\"", "\"pollnig\"", "there is no kind of server `pollnig`", "\"pollnig\""),
        ("\"1ms\"", "\"11ms\"", "the budget 11ms exceeds the period 10ms", "\"11ms\""),
        ("= 8\n", "= 0\n", "with 0 replenishments the budget would never be replenished", "0"),
        (
            "\"sporadic\"",
            "\"polling\"",
            "a polling server is replenished once a period, so this line has no effect",
            "8",
        ),
        ("\"10us\"", "\"1ms\"", "the preemption charge 1ms is not below the budget 1ms", "\"1ms\""),
        (
            "background = 1\n",
            "background = 30\n",
            "background 30 is not below the server's priority 30",
            "30",
        ),
        ("server = \"net\"", "server = \"nat\"", "there is no [[cpu_server]] `nat`", "\"nat\""),
        ("gap = \"250us\"\n", "", "the time between arrivals is not given", "\"packets\""),
        ("gap", "burst = 2\ngap", "only bursty arrivals have a burst", "2"),
        (
            "gap = \"250us\"",
            "at = [\"2ms\", \"1ms\"]",
            "the instants are not in ascending order, or there are more than 100000",
            "[\"2ms\", \"1ms\"]",
        ),
        (
            "name = \"net\"",
            "name = \"control\"",
            "this is a second source named `control`",
            "\"control\"",
        ),
        ("\"5us\"", "5", "`5` has no unit: a duration is a number with its unit", "5"),
    ];
    for (from, to, message, place) in refusals {
        assert_eq!(refusal(from, to), (message.to_owned(), place.to_owned()), "{from} -> {to}");
    }
}

#[test]
fn interference_is_named_and_read_elsewhere() {
    let lines = "[[cpu_interference]]\nfile = \"idle.cpu.toml\"\n";
    let cpu = read(&format!("{MACHINE}{lines}")).unwrap();
    let [idle] = &cpu.interference[..] else { panic!("{cpu:?}") };
    assert_eq!((idle.file.as_str(), idle.margin), ("idle.cpu.toml", Duration::ZERO));
    assert_eq!(idle.bound, InterferenceBound::Demand);
    let cpu = read(&format!("{MACHINE}{lines}bound = \"points\"\nmargin = \"9us\"\n")).unwrap();
    assert_eq!(cpu.interference[0].bound, InterferenceBound::Points);
    assert_eq!(cpu.interference[0].margin, Duration::from_us(9));
    let error = read(&format!("{MACHINE}{lines}bound = \"best\"\n")).unwrap_err();
    assert_eq!(error.message, "there is no bound of interference `best`");
    // Interference alone is not a workload.
    assert!(read(lines).unwrap_err().message.contains("neither a [[cpu_task]]"));
}
