// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a client that reports its misses gets the drive back from best effort, and no other export
//! can do so. Method: a periodic reader and twelve best-effort clients, in virtual time, with and
//! without the reader's reports.

use tidegate_model::{Duration, Time};
use tidegate_policy::NoticeKind;

use super::asking::{SIZE, call_at};
use crate::service::call::{Awaited, CallKind};
use crate::service::core::Core;
use crate::service::harness::offered::{BATCH_MS, Rules, core};
use crate::service::harness::store::{FLUSH_TIME, Store};
use crate::service::harness::{drive_file, table};
use crate::service::offer::ExportId;

const PERIOD: Duration = Duration::from_ms(40);
const DEADLINE: Duration = Duration::from_ms(20);
const SECONDS: u64 = 40;
const READER: u64 = 0;
const FLOOD: u64 = 1;
const CLIENTS: usize = 12;

const STREAM: &str = "soft = true";
const CONTRACT: &str =
    "contract = { period = \"40ms\", deadline = \"20ms\", size_max = \"16KiB\", op = \"read\" }
    soft = true";

fn serve(policy: &str, reader: &str) -> String {
    format!(
        "backing = \"disk\"\ndrive = \"disk.drive.toml\"\nsize_max = \"16KiB\"\n\
         [policy]\nname = \"{policy}\"\n\
         [[export]]\nname = \"reader\"\nsize = \"1MiB\"\n{reader}\n\
         [[export]]\nname = \"floods\"\nsize = \"1MiB\"\nbest_effort = true\n"
    )
}

/// The reader's reads in the second half of a run, and the best effort of the whole run.
#[derive(Debug)]
struct Outcome {
    reads: u64,
    late: u64,
    best_effort: u64,
}

/// Runs the clients; the client of the export `reporting`, if any, reports each late read.
fn run(serve: &str, reporting: Option<u64>) -> Outcome {
    let rules = Rules::new(serve, &drive_file(&table(&BATCH_MS), FLUSH_TIME));
    let mut core: Core<Store> = core(&rules.params(), 1);
    let end = Time::ZERO + Duration::from_ms(SECONDS * 1_000);
    let half = Time::ZERO + Duration::from_ms(SECONDS * 500);
    let mut outcome = Outcome { reads: 0, late: 0, best_effort: 0 };
    let mut reads: Vec<(Time, Awaited)> = Vec::new();
    let mut flood: Vec<Option<Awaited>> = (0..CLIENTS).map(|_| None).collect();
    let (mut next, mut block) = (Time::ZERO, 0_u64);
    while core.backend().now < end {
        let now = core.backend().now;
        let mut calls = Vec::new();
        let mut ask = |export: u64| {
            block += 7;
            let (call, answer) =
                call_at(export, CallKind::Read, export * (1 << 20) + block % 64 * SIZE.get(), now);
            calls.push(call);
            answer
        };
        if next <= now {
            reads.push((now, ask(READER)));
            next += PERIOD;
        }
        for client in &mut flood {
            if client.as_ref().is_none_or(|answer| answer.poll().is_some()) {
                outcome.best_effort += 1;
                *client = Some(ask(FLOOD));
            }
        }
        core.run_iteration(calls.into_iter());
        let now = core.backend().now;
        reads.retain(|(released, answer)| {
            if answer.poll().is_none() {
                return true;
            }
            let is_late = now.since(*released) > DEADLINE;
            if let Some(export) = reporting.filter(|_| is_late) {
                core.notice(ExportId(export), NoticeKind::DeadlineMissed);
            }
            outcome.reads += u64::from(now >= half);
            outcome.late += u64::from(now >= half && is_late);
            false
        });
        core.wait_until(Some(next));
    }
    outcome
}

#[test]
fn a_client_that_reports_its_misses_recovers_with_figures_or_without() {
    for reader in [STREAM, CONTRACT] {
        for policy in ["mdn", "mdn-extended"] {
            let serve = serve(policy, reader);
            let [silent, reports] = [None, Some(READER)].map(|reporting| run(&serve, reporting));
            println!("{policy}, {reader}: {silent:?}, {reports:?}");
            assert!(silent.late * 2 > silent.reads, "the flood delays nobody: {silent:?}");
            assert!(reports.late * 5 < reports.reads, "no recovery: {reports:?}");
            assert!(reports.best_effort * 20 > silent.best_effort, "starved: {reports:?}");
        }
    }
}

/// Canary: notices from a best-effort export change nothing.
#[test]
fn best_effort_is_not_heard() {
    let soft = serve("mdn", STREAM);
    let [silent, reports] = [None, Some(FLOOD)].map(|reporting| run(&soft, reporting));
    assert_eq!(reports.best_effort, silent.best_effort);
    assert_eq!(reports.late, silent.late);
}
