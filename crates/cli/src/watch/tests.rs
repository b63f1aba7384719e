// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The output of a watch, from handwritten events. `tests/screens/main.rs` describes how to accept
//! a change.

use std::fmt::Write as _;

use tidegate_analysis::{Assessment, assess};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{Duration, Lba, Time, Workload};
use tidegate_report::handout::{NamedResult, markdown, page};
use tidegate_report::watch::{LearnReport, WatchReport, Watched};
use tidegate_report::{FileOrigin, Look, Report, ResultCommand, ResultFile};
use tidegate_watch::{
    Declared, Event, EventKind, Extent, IoClass, Operation, Process, Processes, Submitter, Watcher,
};

const WORKLOAD: &str = r#"
[drive]
kind = "pseudo"
batch_ns_max = [18_000_000, 36_000_000]
drain_ns_max = [18_000_000, 36_000_000]
[policy]
name = "mq-deadline-tuned"
[policy.mq-deadline-tuned]
queue_depth = 1
[[task]]
name = "recorder"
period = "160ms"
size = "256KiB"
unit = "recorder.service"
[[best_effort]]
name = "media"
outstanding = 2
size = "64KiB"
unit = "media-server.service"
[[best_effort]]
name = "backup"
outstanding = 1
size = "64KiB"
"#;

/// Identifies programs by the names of their threads. `recorder` and `media-server` belong to the
/// services of these names; `low` belongs to the recorder's service too, but not to the real-time
/// class. Other threads have no unit, and the thread `gone` has ended.
struct ByName;

impl Processes for ByName {
    fn look_up(&mut self, _at: Time, by: &Submitter) -> Process {
        let is_real_time = ["recorder", "rogue"].contains(&&*by.name);
        let class = if is_real_time { IoClass::RealTime } else { IoClass::BestEffort };
        let unit = match &*by.name {
            "recorder" | "low" => Some("recorder.service".to_owned()),
            "media-server" => Some("media-server.service".to_owned()),
            _ => None,
        };
        let is_known = by.name != "gone";
        Process { pid: by.thread, name: by.name.clone(), unit, class, is_known }
    }
}

/// A workload with its bounds.
struct Assessed {
    file: WorkloadFile,
    workload: Workload,
    assessment: Assessment,
}

impl Assessed {
    fn new() -> Self {
        let file = WorkloadFile::parse(WORKLOAD).unwrap();
        let DriveReference::Inline(drive) = &file.drive else { panic!("the drive is inline") };
        let workload = file.bind(drive).unwrap();
        let assessment = assess(&workload, workload.policy);
        Self { file, workload, assessment }
    }

    /// Returns a watcher that compares requests with the bounds.
    fn watcher(&self) -> Watcher<ByName> {
        let Self { file, workload, assessment } = self;
        let bounds: Vec<_> = assessment.tasks.iter().map(|it| Some(it.response_max?.0)).collect();
        let declared = Declared::of(file, workload, &bounds);
        let limits = assessment.tolerant_plan(workload).limits;
        Watcher::new(Time::ZERO, ByName, Some(declared), Some(&limits))
    }
}

/// A request: its start and end in ms, its number of sectors, and the program.
type Request = (u64, u64, u64, &'static str);

/// Records these requests as reads, each at another place.
fn observe(watcher: &mut Watcher<ByName>, requests: &[Request]) {
    let mut events = Vec::new();
    for (index, &(begin, end, sectors, name)) in (0_u64..).zip(requests) {
        let start = Lba::new(index * 7_919 % 100 * 1_024);
        let extent = Extent { op: Operation::Read, start, sectors };
        let by = Submitter { thread: 100, name: name.to_owned() };
        events.push((begin, EventKind::Queued { extent, by, is_forced: false }));
        events.push((begin, EventKind::Issued { extent, class: None, is_forced: false }));
        events.push((end, EventKind::Completed { extent, is_failed: false }));
    }
    events.sort_by_key(|(ms, _)| *ms);
    for (ms, kind) in events.into_iter().filter(|(ms, _)| *ms <= 5_000) {
        watcher.observe(Event { at: at(ms), kind });
    }
    watcher.wait_until(at(5_000));
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Returns a steady load of five seconds, in which the recorder's responses take at most `longest`.
fn requests(longest: u64) -> Vec<Request> {
    let recorder =
        |job: u64| (job * 160, job * 160 + if job == 20 { longest } else { 15 }, 512, "recorder");
    let media = |job: u64| (job * 160 + 40, job * 160 + 52, 128, "media-server");
    (0..31).flat_map(|job| [recorder(job), media(job)]).collect()
}

/// Formats the report of a watch at several widths, and as JSON if `is_json`.
fn shown(title: &str, report: &impl Report, is_json: bool) -> String {
    let mut text = String::new();
    for columns in [40, 80, 120] {
        let look = Look { columns, is_coloured: false };
        let _ = writeln!(text, "# {title}, {columns} columns\n{}", report.to_text(look));
    }
    if is_json {
        let _ = writeln!(text, "# {title}, as JSON\n{}\n", report.to_json());
    }
    text
}

/// Returns the result of a watch after writing and reading it. `doubts` adds lost events, and
/// removes the settings of `tune` and the kernel's classes.
fn result_of(requests: &[Request], doubts: bool) -> [NamedResult; 1] {
    let assessed = Assessed::new();
    let assessment = &assessed.assessment;
    let mut watcher = assessed.watcher();
    if doubts {
        // The events are lost before the request that waits at the end, which would otherwise be
        // given up.
        watcher.lose(17);
    }
    observe(&mut watcher, requests);
    let seen = watcher.seen(at(5_000));
    let report = WatchReport::of(Watched {
        device: "sdb",
        seen,
        assessment: Some(assessment),
        tells_class: !doubts,
        drift: (!doubts).then_some(&[][..]),
    });
    let result = ResultFile::of(ResultCommand::Watch, &report, vec![report.record(seen)]);
    let result = result.with_premises(&assessment.premises, None).to_text();
    let result = ResultFile::read(&result).unwrap();
    let origin = FileOrigin { name: "w.json".to_owned(), sha256: "12".to_owned(), modified: None };
    [NamedResult::of(origin, result).unwrap()]
}

/// Goal: the page of a watch shows responses against bounds, broken promises, doubts, and the
/// premises of the proof. Method: the results of two watches; in the second one, all doubts occur.
#[test]
fn a_watch_has_a_page() {
    let named = result_of(&requests(61), false);
    assert!(page(&named).matches("<svg class=\"chart\"").count() >= 4);
    let others = [
        (3_000, 3_010, 8, "rogue"),
        (3_020, 3_021, 8, "a\u{202e}b @all"),
        (3_120, 3_130, 512, "low"),
        (3_135, 3_136, 8, "gone"),
    ];
    let doubtful = result_of(&[&requests(9_000)[..], &others].concat(), true);
    let text = markdown(&doubtful);
    for said in [
        "the disk was not tuned",
        "17 events lost",
        "rogue: 1 request in the real-time class, which no task declares",
        "backup: names no unit",
        "waited still at the end, for up to 1800.000ms",
        "counts in its thread's class",
        "of threads that had ended",
        "| class | process |",
        "a?b @&#8203;all",
    ] {
        assert!(text.contains(said), "{said}: {text}");
        // The HTML page contains the same words.
        let html = said.replace("&#8203;", "").replace("| class | process |", "<th>process</th>");
        assert!(page(&doubtful).contains(&html), "{html}");
    }
    insta_of_page(&format!("{}\n{text}", markdown(&named)));
}

/// Compares the page with its snapshot, without replacing anything in it.
fn insta_of_page(text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../tests/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("page_of_a_watch", text));
}

#[test]
fn watches() {
    let assessed = Assessed::new();
    let excess = [
        (900, 930, 128, "media-server"),
        (900, 931, 128, "media-server"),
        (901, 932, 256, "media-server"),
    ];
    let rogue = [(3_000, 3_010, 8, "rogue"), (3_020, 3_021, 8, "smartd")];
    let broken = [(3_120, 3_130, 512, "low"), (3_135, 3_136, 8, "gone")];
    let cases: [(&str, Vec<Request>, u64, bool); 7] = [
        ("every bound held", requests(30), 0, true),
        ("events were lost", requests(30), 17, false),
        ("a bound was exceeded", requests(61), 0, false),
        ("more than declared", [&requests(30)[..], &excess, &rogue].concat(), 0, false),
        ("a request waits still", requests(9_000), 0, false),
        (
            "of another class, and of a thread that ended",
            [&requests(30)[..], &broken].concat(),
            0,
            false,
        ),
        ("nothing happened", Vec::new(), 0, false),
    ];
    let mut text = String::new();
    for (title, requests, lost, is_json) in cases {
        let mut watcher = assessed.watcher();
        observe(&mut watcher, &requests);
        if lost > 0 {
            watcher.lose(lost);
        }
        let parts = Watched {
            device: "sdb",
            seen: watcher.seen(at(5_000)),
            assessment: Some(&assessed.assessment),
            tells_class: false,
            drift: Some(&[]),
        };
        let report = WatchReport::of(parts);
        let is_kept = ["every bound held", "events were lost"].contains(&title);
        assert_eq!(report.is_kept(), is_kept, "{title}");
        text += &shown(title, &report, is_json);
        if ["every bound held", "a bound was exceeded", "nothing happened"].contains(&title) {
            for columns in [40, 80, 120] {
                let look = Look { columns, is_coloured: false };
                let plots = super::view::text(&report, look, true);
                let _ = writeln!(text, "# {title}, histograms, {columns} columns\n{plots}");
            }
        }
    }
    let mut watcher = Watcher::new(Time::ZERO, ByName, None, None).learning();
    observe(&mut watcher, &requests(30));
    let seen = watcher.seen(at(5_000));
    let parts = Watched { device: "sdb", seen, assessment: None, tells_class: true, drift: None };
    text += &shown("without a workload", &WatchReport::of(parts), false);
    let learnt = watcher.learner().unwrap().learnt(102_400);
    let to_do = super::profile_command("/dev/sdb", &learnt);
    let report =
        LearnReport::of(("sdb", "house.toml"), (Duration::from_ms(5_000), 0), &learnt, to_do);
    text += &shown("learnt", &report, true);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../tests/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("watches", text));
}
