// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: periods, jobs, sizes and places are learnt from sources with jitter, and the written file
//! is a valid workload. Method: synthetic sources with known figures.

use proptest::prelude::*;
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{Bytes, Duration, Op};
use tidegate_watch::{
    Event, EventKind, Extent, FileHead, Learnt, LearntPlace, Operation, Watcher, workload_text,
};

use crate::common::{ByName, at, extent, submitter, watcher};

/// The number of sectors of the device: 1 GiB.
const SECTORS: u64 = 1 << 21;

/// Requests, each with its times of queueing and completion in us.
type Script = Vec<(u64, u64, Extent, &'static str)>;

fn learn(mut script: Script) -> Vec<Learnt> {
    let mut watcher: Watcher<ByName> = watcher(None, None).learning();
    let mut events: Vec<(u64, EventKind)> = Vec::new();
    for (queued, completed, extent, name) in script.drain(..) {
        events.push((queued, EventKind::Queued { extent, by: submitter(name), is_forced: false }));
        events.push((completed, EventKind::Completed { extent, is_failed: false }));
    }
    events.sort_by_key(|(time, _)| *time);
    for (time, kind) in events {
        watcher.observe(Event { at: at(time), kind });
    }
    watcher.learner().unwrap().learnt(SECTORS)
}

/// Returns jobs that begin at these times. Each has `requests` reads, which arrive 30 us apart and
/// take 2 ms each.
fn jobs(begins: &[u64], requests: u64, sectors: u64, name: &'static str) -> Script {
    let job = |(index, &begin): (usize, &u64)| {
        let first = index as u64 * 7_919 * 128 % (SECTORS - 4_096);
        (0..requests).map(move |request| {
            let start = first + request * (sectors + 8);
            let queued = begin + request * 30;
            (queued, queued + 2_000, extent(Operation::Read, start, sectors), name)
        })
    };
    begins.iter().enumerate().flat_map(job).collect()
}

fn rhythms(script: Script) -> Vec<Option<(Duration, u32)>> {
    learn(script).iter().map(|it| it.rhythm.map(|it| (it.period, it.requests))).collect()
}

/// Goal: a service with a process for each camera gets a task for each. Method: three processes of
/// one name with the same period and different offsets; then the same with one process that has no
/// period.
#[test]
fn processes_of_one_name_have_periods_of_their_own() {
    let begins = |offset: u64| (0..40).map(|index| index * 100_000 + offset).collect::<Vec<_>>();
    let cameras = |names: [&'static str; 3]| {
        let of = [1_000, 12_000, 71_000].map(begins);
        names.into_iter().zip(of).flat_map(|(name, begins)| jobs(&begins, 2, 64, name)).collect()
    };
    let script: Script = cameras(["camera@nvr:1", "camera@nvr:2", "camera@nvr:3"]);
    let task = Some((Duration::from_ms(100), 2));
    assert_eq!(rhythms(script.clone()), [task; 3]);
    let learnt = learn(script.clone());
    let text = workload_text(HEAD, &learnt).expect("sources");
    for name in ["nvr", "nvr-2", "nvr-3"] {
        assert!(text.contains(&format!("name = \"{name}\"")), "{text}");
    }
    let odd: Vec<u64> = (0..30).map(|index| index * index * 3_001 + 5_000).collect();
    let script = script.into_iter().chain(jobs(&odd, 2, 64, "camera@nvr:4")).collect();
    assert_eq!(rhythms(script), [None], "together they are a load");
}

proptest! {
    /// Periods of any length, jobs of any size, jitter up to a twentieth of the period, and one job
    /// in 25 missing.
    #[test]
    fn period_and_requests_of_a_job_are_found(
        period_ms in 10_u64..500,
        requests in 1_u64..6,
        jitter in prop::collection::vec(0_u64..1_000, 120),
    ) {
        let period = period_ms * 1_000;
        let begin = |(index, jitter): (usize, &u64)| {
            let late = jitter * period / 20 / 1_000;
            (index % 25 != 24).then_some(period * (index as u64 + 1) + late)
        };
        let begins: Vec<u64> = jitter.iter().enumerate().filter_map(begin).collect();
        let learnt = learn(jobs(&begins, requests, 64, "recorder"));
        prop_assert_eq!(learnt.len(), 1);
        let rhythm = learnt[0].rhythm.expect("a period");
        let found = rhythm.period.ns().abs_diff(period * 1_000);
        prop_assert!(found * 50 <= period * 1_000, "{} for {period} us", rhythm.period);
        prop_assert_eq!(u64::from(rhythm.requests), requests);
        prop_assert_eq!(learnt[0].size_max, Bytes::from_kib(32));
    }
}

#[test]
fn exact_periods_are_found_exactly_and_pauses_do_not_move_them() {
    let steady: Vec<u64> = (1..100).map(|index| index * 40_000).collect();
    assert_eq!(rhythms(jobs(&steady, 1, 64, "a")), [Some((Duration::from_ms(40), 1))]);
    let paused: Vec<u64> =
        steady.iter().map(|it| if *it > 2_000_000 { it + 60_000_000 } else { *it }).collect();
    assert_eq!(rhythms(jobs(&paused, 2, 64, "a")), [Some((Duration::from_ms(40), 2))]);
}

/// A closed loop on a device of constant speed is regular, but completions trigger its jobs, so it
/// has no period. Nor does a source with few jobs, or one with gaps of all lengths.
#[test]
fn other_sources_have_no_period() {
    let read = |queued: u64, completed: u64| {
        (queued, completed, extent(Operation::Read, queued * 8 % SECTORS, 8), "a")
    };
    let closed: Script = (1..200).map(|index| read(index * 8_000, index * 8_000 + 7_950)).collect();
    assert_eq!(rhythms(closed), [None]);
    let few: Vec<u64> = (1..10).map(|index| index * 40_000).collect();
    assert_eq!(rhythms(jobs(&few, 1, 64, "a")), [None]);
    let irregular: Vec<u64> =
        (1..200).map(|index: u64| index * 40_000 + index * index * 7_919 % 39_000).collect();
    assert_eq!(rhythms(jobs(&irregular, 1, 64, "a")), [None]);
}

#[test]
fn places_sizes_and_outstanding_requests_are_learnt() {
    let write = |index: u64, start: u64, sectors: u64| {
        (index * 10, index * 10 + 35, extent(Operation::Write, start, sectors), "log")
    };
    // Writes two files in sequence, alternately.
    let two_files = |index: u64| write(index, (index % 2) * 1_000_000 + index / 2 * 8, 8);
    let sequential = &learn((0..100).map(two_files).collect())[0];
    assert_eq!((sequential.place, sequential.op), (LearntPlace::Sequential, Op::Write));
    assert_eq!(sequential.outstanding_max, 4);
    let in_part =
        |index: u64| write(index, SECTORS / 4 + index * 7_919 % (SECTORS / 8), 8 + index % 3 * 8);
    let range = &learn((0..100).map(in_part).collect())[0];
    assert_eq!(range.place, LearntPlace::Range { from_percent: 25, to_percent: 38 });
    assert_eq!((range.size_median, range.size_max), (Bytes::from_kib(8), Bytes::from_kib(12)));
    let anywhere = |index: u64| write(index, index * 104_729 * 8 % (SECTORS - 8), 8);
    assert_eq!(learn((0..100).map(anywhere).collect())[0].place, LearntPlace::Random);
}

/// Goal: the file can be parsed for any names of programs, and contains the learnt figures.
#[test]
fn the_file_is_a_workload() {
    let begins: Vec<u64> = (1..50).map(|index| index * 160_000).collect();
    let mut script = jobs(&begins, 1, 512, "rec\"order\u{1b}!@recorder");
    // The same unit also writes, without a period.
    for index in 0..40_u64 {
        let write = extent(Operation::Write, index * 2_000, 8 + index % 5);
        script.push((
            index * index * 900,
            index * index * 900 + 50,
            write,
            "rec\"order\u{1b}!@recorder",
        ));
    }
    for index in 0..90_u64 {
        let read = extent(Operation::Read, index * 8_000, 16);
        script.push((index * 100, index * 100 + 900, read, "Player 2"));
    }
    let learnt = learn(script);
    let head = FileHead { lost: 3, left_out: 2, ..HEAD };
    let text = workload_text(head, &learnt).unwrap();
    let file = WorkloadFile::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(file.unit_of_entries(), [Some("recorder.service".to_owned())], "{text}");
    // A unit cannot belong to both a task and a load.
    assert_eq!(file.unit_of_loads(), [None, None], "{text}");
    for line in [
        "# The kernel lost 3 events, so figures can be too small.",
        "# Left out: 2 requests of further programs.",
        "name = \"recorder-read\"",
        "period = \"160ms\"",
        "name = \"recorder-write\"",
        "name = \"player-2\"",
        "outstanding = 9",
        "place = { from = \"0%\"",
    ] {
        assert!(text.lines().any(|it| it.starts_with(line)), "{line}\n{text}");
    }
    assert!(workload_text(head, &[]).is_none());
}

/// Goal: the period of a source that starts late is learnt even if others were busy before, and the
/// file states which requests a period is based on. Method: six busy services with two processes
/// each, which use up the memory for arrival times, and then a recorder.
#[test]
fn busy_sources_leave_room_for_a_late_one() {
    const REQUESTS: u64 = 520_000;
    let mut watcher: Watcher<ByName> = watcher(None, None).learning();
    let mut observe = |us: u64, sector: u64, name: &str| {
        let extent = extent(Operation::Read, sector % SECTORS, 8);
        let queued = EventKind::Queued { extent, by: submitter(name), is_forced: false };
        watcher.observe(Event { at: at(us), kind: queued });
        let completed = EventKind::Completed { extent, is_failed: false };
        watcher.observe(Event { at: at(us + 1), kind: completed });
    };
    for index in 0..REQUESTS {
        observe(2 * index, index * 8, &format!("cp@busy{}:{}", index % 6, index % 12));
    }
    for index in 0..40 {
        observe(3_000_000 + 160_000 * index, index * 8, "recorder@nvr");
    }
    let learnt = watcher.learner().unwrap().learnt(SECTORS);
    let late = learnt.iter().find(|it| it.name == "recorder").unwrap();
    assert_eq!(late.rhythm.map(|it| it.period), Some(Duration::from_ms(160)));
    assert_eq!(late.untimed, 0);
    let busy: Vec<_> = learnt.iter().filter(|it| it.name == "cp").collect();
    assert_eq!(busy.iter().map(|it| it.requests).sum::<u64>(), REQUESTS);
    assert!(busy.iter().all(|it| it.untimed > 0));
    let text = workload_text(HEAD, &learnt).unwrap();
    assert!(text.contains(" from the first "), "{text}");
}

/// A file states the requests of the largest job, because the proof must cover it.
#[test]
fn the_file_has_the_largest_job() {
    let begins: Vec<u64> = (1..200).map(|index| index * 40_000).collect();
    let mut script = jobs(&begins, 1, 64, "a@b");
    script.extend(jobs(&[4_000_100], 2, 64, "a@b"));
    let text = workload_text(HEAD, &learn(script)).unwrap();
    assert!(text.contains("\nrequests = 3\n"), "{text}");
    assert!(text.contains("# 99 of 100 jobs had at most 1 of the requests below"), "{text}");
}

const HEAD: FileHead<'_> = FileHead {
    device: "/dev/sdb",
    drive: "a.toml",
    duration: Duration::from_ms(8_000),
    lost: 0,
    left_out: 0,
};

/// The advice on the class fits the source: `tune` can give a class only to a service.
#[test]
fn a_task_without_a_unit_is_not_told_of_install() {
    let begins: Vec<u64> = (1..50).map(|index| index * 160_000).collect();
    for (name, advice) in [("a@b", "`tidegate tune --install`"), ("a", "`ionice -c realtime`")] {
        let text = workload_text(HEAD, &learn(jobs(&begins, 1, 64, name))).unwrap();
        let class = text.lines().find(|line| line.starts_with("# its class was not real time"));
        assert!(class.unwrap().contains(advice), "{text}");
    }
}

proptest! {
    /// Goal: the file can be parsed for any names of programs and units.
    #[test]
    fn any_name_gives_a_workload(name in "\\PC{1,12}|[\u{0}-\u{ff}]{1,12}", unit in "[\\\\a-z@:.\"\u{0}-\u{ff}]{0,12}") {
        let mut learnt = learn(jobs(&[1_000], 1, 64, "a"));
        for unit in [None, Some(format!("{unit}.service")), Some(r"foo\x2dbar@a:b.service".to_owned())] {
            learnt[0].name.clone_from(&name);
            learnt[0].unit = unit;
            let text = workload_text(HEAD, &learnt).unwrap();
            let file = WorkloadFile::parse(&text);
            prop_assert!(file.is_ok(), "{}\n{text}", file.unwrap_err());
        }
        let file = WorkloadFile::parse(&workload_text(HEAD, &learnt).unwrap()).unwrap();
        prop_assert_eq!(file.unit_of_loads(), [Some(r"foo\x2dbar@a:b.service".to_owned())]);
    }
}
