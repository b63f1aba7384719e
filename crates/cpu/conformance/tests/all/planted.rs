// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Canaries: each defect that the suite found in a kernel is planted in the corrected server and
//! found again. Also tests that a program's declaration decides which parts are tested.

use std::cell::RefCell;
use std::io::{self, BufReader, Write, pipe};
use std::rc::Rc;
use std::thread;

use tidegate_cpu_conformance::external::{External, answer};
use tidegate_cpu_conformance::{DefectKind, Invariant, Report, Supports, Verdict, test};
use tidegate_cpu_model::{ServerKind, ServerParams};
use tidegate_cpu_servers::{self, Replenishment, Server, ServerEvent, ServerStatus};
use tidegate_model::{Duration, Time};

/// A defect to plant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defect {
    /// No defect: the corrected server.
    None,
    /// The server never has budget.
    Dead,
    /// The budget is also used up while the server waits for the processor (NuttX).
    ExpiresWhileDelayed,
    /// An overrun is not taken from the next chunk (seL4 11).
    ForgivesOverrun,
    /// The whole budget is kept until it is used (RTEMS).
    Deferrable,
}

/// The corrected server, or a deferrable one, with a planted defect: wrong execution times are
/// reported to it.
struct Planted {
    defect: Defect,
    server: Box<dyn Server>,
    last: Time,
    is_started: bool,
}

impl Planted {
    fn new(defect: Defect, params: ServerParams) -> Self {
        let kind = if defect == Defect::Deferrable {
            ServerKind::Deferrable
        } else {
            ServerKind::Sporadic
        };
        let server = tidegate_cpu_servers::build(&ServerParams { kind, ..params });
        Self { defect, server, last: Time::ZERO, is_started: false }
    }
}

impl Server for Planted {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        let budget = self.server.status(self.last).budget;
        let elapsed = now.since(self.last);
        let told = match self.defect {
            Defect::ExpiresWhileDelayed if self.is_started => elapsed.min(budget).max(executed),
            Defect::None | Defect::Dead | Defect::Deferrable | Defect::ExpiresWhileDelayed => {
                executed
            }
            Defect::ForgivesOverrun => executed.min(budget),
        };
        self.is_started = match event {
            ServerEvent::Dispatch { .. } => true,
            ServerEvent::Unblock | ServerEvent::Block => false,
            ServerEvent::Preempt | ServerEvent::Alarm => self.is_started,
        };
        self.last = now;
        self.server.observe(now, told, event);
    }

    fn status(&self, now: Time) -> ServerStatus {
        let status = self.server.status(now);
        if self.defect == Defect::Dead {
            let alarm = Some(now + Duration::from_ms(1));
            return ServerStatus { budget: Duration::ZERO, alarm, ..status };
        }
        status
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        self.server.replenishments(out);
    }
}

fn report(defect: Defect) -> Report {
    let mut planted =
        |params: &ServerParams| -> Box<dyn Server> { Box::new(Planted::new(defect, *params)) };
    test(&mut planted, &Supports::UNDECLARED, 1, 200)
}

fn fails(report: &Report, invariant: Invariant) -> u64 {
    report.invariants[invariant as usize].failed_runs
}

fn has_failed(report: &Report, family: DefectKind) -> bool {
    report.families.iter().any(|it| it.family == family && it.failed().is_some())
}

#[test]
fn the_server_without_a_defect_conforms() {
    let report = report(Defect::None);
    assert!(report.conforms(), "{report:#?}");
}

#[test]
fn a_server_that_never_executes_does_not_conform() {
    let report = report(Defect::Dead);
    assert!(has_failed(&report, DefectKind::LostService));
    assert!(fails(&report, Invariant::Liveness) > 150, "{:?}", report.invariants);
    assert_eq!(fails(&report, Invariant::Response), 0);
}

#[test]
fn budget_that_expires_while_it_waits_is_found() {
    let report = report(Defect::ExpiresWhileDelayed);
    assert!(has_failed(&report, DefectKind::LostService));
    assert!(fails(&report, Invariant::Liveness) > 10, "{:?}", report.invariants);
}

#[test]
fn an_overrun_that_is_forgiven_is_found() {
    let report = report(Defect::ForgivesOverrun);
    assert!(has_failed(&report, DefectKind::Overrun));
    assert!(fails(&report, Invariant::Window) > 10, "{:?}", report.invariants);
}

#[test]
fn a_deferred_budget_is_found() {
    let report = report(Defect::Deferrable);
    assert!(fails(&report, Invariant::Window) > 10, "{:?}", report.invariants);
}

/// A server that accepts no preemption charge and only two to eight replenishments, like several
/// kernels. Its unit of time is 3 us.
struct Limited(Box<dyn Server>);

impl Limited {
    fn new(params: &ServerParams) -> Self {
        assert!(params.preemption_charge.is_zero(), "{params:?}");
        assert!((2..=8).contains(&params.replenishments_max), "{params:?}");
        Self(tidegate_cpu_servers::build(params))
    }
}

impl Server for Limited {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        assert_eq!(now.ns() % 3_000, 0);
        assert_eq!(executed.ns() % 3_000, 0);
        self.0.observe(now, executed, event);
    }

    fn status(&self, now: Time) -> ServerStatus {
        self.0.status(now)
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        self.0.replenishments(out);
    }
}

/// Goal: only declared parts are tested. With a longer unit of time, the results are still compared
/// to the nanosecond.
#[test]
fn only_the_declared_subset_is_tested() {
    let supports = Supports {
        replenishments_max: 8,
        granularity: Duration::from_us(3),
        ..Supports::UNDECLARED
    };
    let mut limited = |params: &ServerParams| -> Box<dyn Server> { Box::new(Limited::new(params)) };
    let report = test(&mut limited, &supports, 1, 100);
    assert!(report.conforms());
    let mut verdicts = report.families.iter().flat_map(|it| &it.streams).map(|it| &it.verdict);
    let is_known = |it: &Verdict| matches!(it, Verdict::AsExpected | Verdict::NotSupported);
    assert!(verdicts.clone().all(is_known));
    assert!(verdicts.any(|it| *it == Verdict::AsExpected));
    assert!(fails(&report, Invariant::Liveness) == 0 && report.invariants[5].checks > 100);
}

/// A log in memory, shared by all its clones.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Goal: a program's declaration is read, and the conversation is logged.
#[test]
fn a_program_declares_and_is_logged() {
    let (their_reader, our_writer) = pipe().unwrap();
    let (our_reader, their_writer) = pipe().unwrap();
    let program = thread::spawn(move || {
        answer(ServerKind::Sporadic, BufReader::new(their_reader), their_writer)
    });
    let external = External::new(BufReader::new(our_reader), our_writer);
    let log = Shared::default();
    external.log_to(log.clone());
    assert_eq!(external.supports(), Supports::ALL);
    drop(external);
    program.join().unwrap().unwrap();
    let log = String::from_utf8(log.0.take()).unwrap();
    assert!(log.starts_with("> {\"new\":") && log.contains("\n< {\"budget_ns\":"), "{log}");
    let silent = External::new(&b"{\"budget_ns\":1,\"alarm_ns\":null}\n"[..], Vec::new());
    assert_eq!(silent.supports(), Supports::UNDECLARED);
    let says = "{\"budget_ns\":1,\"alarm_ns\":null,\"supports\":{\"replenishments_min\":0}}\n";
    let wrong = External::new(says.as_bytes(), Vec::new());
    wrong.supports();
    let error = wrong.take_error().expect("no replenishment is not enough").to_string();
    assert!(error.contains("allows 0 to"), "{error}");
}
