// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs the suite on this project's servers: the corrected server passes as expected, the hybrids
//! pass, and POSIX fails where it should.

use std::io::{self, BufReader, pipe};
use std::thread;

use tidegate_cpu_conformance::external::{External, ExternalError, answer};
use tidegate_cpu_conformance::{DefectKind, Invariant, Report, Supports, Verdict, Violation};
use tidegate_cpu_model::{ServerKind, ServerParams};
use tidegate_cpu_servers::{self, Replenishment, Server, ServerEvent, ServerStatus};
use tidegate_model::{Duration, Time};

fn report(kind: ServerKind, runs: u64) -> Report {
    let mut ours = |params: &ServerParams| -> Box<dyn Server> {
        tidegate_cpu_servers::build(&ServerParams { kind, ..*params })
    };
    tidegate_cpu_conformance::test(&mut ours, &Supports::ALL, 1, runs)
}

fn verdicts(report: &Report) -> impl Iterator<Item = (&str, &Verdict)> {
    report.families.iter().flat_map(|it| &it.streams).map(|it| (it.name.as_str(), &it.verdict))
}

/// Goal: the corrected server meets the expectations to the nanosecond. After an intended change,
/// the example `record_streams` records them again.
#[test]
fn the_corrected_server_is_as_expected_in_every_stream() {
    let report = report(ServerKind::Sporadic, 200);
    for (name, verdict) in verdicts(&report) {
        assert_eq!(*verdict, Verdict::AsExpected, "{name}");
    }
    assert!(report.conforms());
    assert!(report.invariants.iter().all(|it| it.checks > 100), "{:?}", report.invariants);
}

#[test]
fn the_hybrids_and_a_polling_server_conform() {
    for kind in [ServerKind::HybridImmediate, ServerKind::HybridGradual, ServerKind::Polling] {
        let report = report(kind, 200);
        assert!(report.conforms(), "{kind}: {report:#?}");
    }
}

fn failed(report: &Report, family: DefectKind) -> Option<Violation> {
    let family = report.families.iter().find(|it| it.family == family)?;
    match &family.failed()?.verdict {
        Verdict::Failed(failure) => Some(failure.violation.clone()),
        _ => None,
    }
}

/// Canary: each defect of POSIX is found in the family of streams made for it, and random runs
/// violate every invariant except I4 and I6.
#[test]
fn posix_fails_where_it_should() {
    for kind in [ServerKind::PosixSporadic, ServerKind::PosixSporadicStrict] {
        let report = report(kind, 200);
        let in_family = |family| failed(&report, family).map(|it| it.invariant());
        assert_eq!(in_family(DefectKind::PrematureReplenishment), Some(Invariant::Response));
        assert_eq!(in_family(DefectKind::BudgetAmplification), Some(Invariant::Window));
        assert_eq!(in_family(DefectKind::Overrun), Some(Invariant::Window));
        assert_eq!(in_family(DefectKind::Fragmentation), None, "it limits replenishments");
        for invariant in Invariant::ALL {
            let is_kept = report.invariants[invariant as usize].failed_runs == 0;
            let must_keep = matches!(invariant, Invariant::Queue | Invariant::Liveness);
            assert_eq!(is_kept, must_keep, "{kind} {invariant}");
        }
    }
}

/// Goal: the original server fails only by its own defect, which needs the arrivals of the stream:
/// 200 random runs violate no invariant, and overruns are charged.
#[test]
fn the_original_server_only_replenishes_too_early() {
    let report = report(ServerKind::Spsl, 200);
    for family in DefectKind::ALL {
        let is_its_own = family == DefectKind::PrematureReplenishment;
        let expected = is_its_own.then_some(Invariant::Response);
        assert_eq!(failed(&report, family).map(|it| it.invariant()), expected, "{family}");
    }
    assert!(report.invariants.iter().all(|it| it.failed_runs == 0), "{:?}", report.invariants);
}

/// Figure 6.9 distinguishes the two readings of POSIX.
#[test]
fn only_one_reading_of_posix_saturates_the_processor() {
    let verdict = |kind| {
        let report = report(kind, 0);
        let (_, verdict) = verdicts(&report).find(|it| it.0 == "premature-figure-6.9").unwrap();
        matches!(verdict, Verdict::Failed(failure) if matches!(failure.violation, Violation::Unanswered { .. }))
    };
    assert!(verdict(ServerKind::PosixSporadic));
    assert!(!verdict(ServerKind::PosixSporadicStrict));
}

/// Canary: a deferrable server is not a periodic task, and the checked windows show it.
#[test]
fn a_deferrable_server_is_detected() {
    let report = report(ServerKind::Deferrable, 200);
    assert!(report.invariants[Invariant::Window as usize].failed_runs > 10);
    assert!(report.invariants[Invariant::Response as usize].failed_runs > 0);
}

/// Goal: a program behind the line protocol is tested like a linked server. Method: this project's
/// servers answer through two pipes.
#[test]
fn a_program_is_tested_through_lines() {
    for (kind, conforms) in [(ServerKind::Sporadic, true), (ServerKind::PosixSporadic, false)] {
        let (their_reader, our_writer) = pipe().unwrap();
        let (our_reader, their_writer) = pipe().unwrap();
        let program =
            thread::spawn(move || answer(kind, BufReader::new(their_reader), their_writer));
        let external = External::new(BufReader::new(our_reader), our_writer);
        let report = tidegate_cpu_conformance::test(
            &mut |params| external.server(params),
            &Supports::ALL,
            1,
            5,
        );
        assert!(external.take_error().is_none());
        assert_eq!(report.conforms(), conforms, "{kind}");
        if conforms {
            assert!(verdicts(&report).all(|it| *it.1 == Verdict::AsExpected));
        }
        drop(external);
        program.join().unwrap().unwrap();
    }
}

#[test]
fn a_program_that_ends_or_answers_nonsense_is_reported() {
    let ended = External::new(BufReader::new(&b""[..]), Vec::new());
    tidegate_cpu_conformance::test(&mut |params| ended.server(params), &Supports::ALL, 1, 0);
    assert!(matches!(ended.take_error(), Some(ExternalError::Ended { .. })));
    let babble = External::new(BufReader::new(&b"hello\n"[..]), Vec::new());
    tidegate_cpu_conformance::test(&mut |params| babble.server(params), &Supports::ALL, 1, 0);
    let error = babble.take_error().expect("no answer");
    assert!(error.to_string().starts_with("the program answered `hello` to `{\"new\""), "{error}");
}

/// A server that requests its next replenishment's alarm even without work.
struct Early(Box<dyn Server>);

impl Server for Early {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        self.0.observe(now, executed, event);
    }

    fn status(&self, now: Time) -> ServerStatus {
        let status = self.0.status(now);
        let mut chunks = Vec::new();
        self.0.replenishments(&mut chunks);
        let next = chunks.iter().map(|it| it.at).find(|&at| at > now);
        ServerStatus { alarm: status.alarm.or(next.filter(|_| status.budget.is_zero())), ..status }
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        self.0.replenishments(out);
    }
}

/// A server that always requests an alarm at the current instant.
struct Impatient(Box<dyn Server>);

impl Server for Impatient {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        self.0.observe(now, executed, event);
    }

    fn status(&self, now: Time) -> ServerStatus {
        ServerStatus { alarm: Some(now), ..self.0.status(now) }
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        self.0.replenishments(out);
    }
}

/// Goal: an implementation that requests endless alarms makes the test end with this reason.
#[test]
#[should_panic(expected = "the alarm of the server under test is not after now")]
fn an_alarm_that_is_over_is_refused() {
    let mut impatient = |params: &ServerParams| -> Box<dyn Server> {
        Box::new(Impatient(tidegate_cpu_servers::build(params)))
    };
    tidegate_cpu_conformance::test(&mut impatient, &Supports::ALL, 1, 0);
}

/// Goal: an alarm that a server without work requests does not count as a difference.
#[test]
fn an_alarm_without_work_is_not_compared() {
    let mut early = |params: &ServerParams| -> Box<dyn Server> {
        Box::new(Early(tidegate_cpu_servers::build(params)))
    };
    let report = tidegate_cpu_conformance::test(&mut early, &Supports::ALL, 1, 20);
    for (name, verdict) in verdicts(&report) {
        assert_eq!(*verdict, Verdict::AsExpected, "{name}");
    }
}

/// Goal: for a program that requests endless alarms, the error names the call. Otherwise this test
/// does not end.
#[test]
fn an_alarm_that_is_over_is_found_at_once() {
    let line = "{\"budget_ns\":0,\"alarm_ns\":0}\n".as_bytes();
    let lines = BufReader::new(iter_reader(line));
    let hasty = External::new(lines, Vec::new());
    tidegate_cpu_conformance::test(&mut |params| hasty.server(params), &Supports::ALL, 1, 5);
    let error = hasty.take_error().expect("an alarm at the instant of the question");
    assert!(matches!(error, ExternalError::Alarm { .. }), "{error}");
    let says = error.to_string();
    assert!(says.starts_with("alarm_ns is not after now_ns") && says.contains("unblock"), "{says}");
}

/// Repeats the same line forever.
fn iter_reader(line: &'static [u8]) -> impl io::Read {
    struct Again(&'static [u8], usize);
    impl io::Read for Again {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            for byte in out.iter_mut() {
                *byte = self.0[self.1];
                self.1 = (self.1 + 1) % self.0.len();
            }
            Ok(out.len())
        }
    }
    Again(line, 0)
}

#[test]
fn a_long_answer_is_cut() {
    let long = Box::leak(format!("{}\n", "ä".repeat(1 << 20)).into_boxed_str());
    let babble = External::new(BufReader::new(long.as_bytes()), Vec::new());
    tidegate_cpu_conformance::test(&mut |params| babble.server(params), &Supports::ALL, 1, 0);
    let says = babble.take_error().expect("no answer").to_string();
    assert!(says.len() < 1_000 && says.contains("(2097152 bytes)"), "{says}");
}

/// A program may answer with any number. A server that would execute forever fails, and the suite
/// still ends.
#[test]
fn numbers_at_the_end_of_the_scale_fail_and_nothing_else() {
    let most = u64::MAX;
    let line = format!(
        "{{\"budget_ns\":{most},\"alarm_ns\":{most},\"replenishments_ns\":[[0,{most}],[{most},{most}]]}}\n"
    );
    let lines = BufReader::new(io::Cursor::new(line.repeat(10_000)));
    let boundless = External::new(lines, Vec::new());
    let report = tidegate_cpu_conformance::test(
        &mut |params| boundless.server(params),
        &Supports::ALL,
        1,
        0,
    );
    assert!(boundless.take_error().is_none());
    let window = failed(&report, DefectKind::Overrun).map(|it| it.invariant());
    assert_eq!(window, Some(Invariant::Window));
}
