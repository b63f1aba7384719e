// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A service's replies as text.

use tidegate_engine::control::wire::{
    AdmittedExport, DriveFigures, ExportBound, ExportFigures, ExportStatus, Failed, Guarantee,
    Heard, RemovedExport, Statistics, Status,
};
use tidegate_model::{Bytes, Duration, Grade, Premises, count};

use super::text;
use crate::arguments::CtlVerb;
use tidegate_report::{Answer, Note, Page, Table, figures};

/// Formats a time in nanoseconds; `-` if there is none.
pub(crate) fn time(ns: Option<u64>) -> String {
    figures::bound(ns.map(Duration::from_ns))
}

/// Returns the first line about a service: its guarantee.
pub(super) fn status_answer(status: &Status) -> Answer {
    let text = format!("Guarantee {}.", guarantee(status));
    match status.guarantee() {
        Guarantee::NotRequested => Answer::doubtful(text),
        Guarantee::Stands { failed: 0 } => Answer::good(text),
        Guarantee::Stands { .. } | Guarantee::Degraded | Guarantee::NotProved => Answer::bad(text),
    }
}

pub(super) fn write_status(status: &Status, page: &mut Page) {
    page.answer(&status_answer(status));
    writeln!(page);
    page.labelled("Policy", text(&status.policy));
    page.labelled("Running for", elapsed(status.uptime_ns));
    page.labelled("Host", text(&status.real_time.text));
    if let Some(grade) = status.grade {
        page.labelled("Grade", graded(grade, &status.premises));
    }
    writeln!(page);
    let exports = &status.exports;
    let cells = |of: fn(&ExportStatus) -> String| exports.iter().map(of).collect::<Vec<_>>();
    let columns = [
        ("export", cells(|export| text(&export.name))),
        ("contract", cells(contract)),
        ("beyond it", cells(beyond)),
        ("size", cells(|export| Bytes::new(export.size_bytes).to_string())),
        ("bound", cells(|export| time(export.bound_ns))),
        ("deadline", cells(|export| time(export.contract.as_ref().map(|it| it.deadline_ns)))),
    ];
    page.put(Table::of_columns(&columns, 3).optional(&["size", "beyond it"]));
}

fn guarantee(status: &Status) -> String {
    let what = match status.guarantee() {
        Guarantee::NotRequested => "none requested",
        Guarantee::Stands { failed: 0 } if status.degradations > 0 => return stands_again(status),
        Guarantee::Stands { failed: 0 } => "stands: no response time has exceeded its bound",
        Guarantee::Stands { failed } => {
            let requests = figures::count(usize::try_from(failed).unwrap_or(usize::MAX), "request");
            return format!(
                "stands for completed requests; {requests} with a contract failed: see the log"
            );
        }
        Guarantee::Degraded => {
            "DEGRADED: a bound was exceeded, or a batch took longer than the drive file says, and \
             late requests are still pending: see `statistics`"
        }
        Guarantee::NotProved => "not proved for every contract",
    };
    what.to_owned()
}

/// States that a guarantee is restored, for how long it has held, and how often it was degraded.
fn stands_again(status: &Status) -> String {
    let times = match status.degradations {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let since = elapsed(status.unchanged_ns);
    format!("stands, for {since} now; it was degraded {times}: see `statistics`")
}

/// Formats a grade with its doubts, for example `weak: 100 samples, a hypervisor`.
fn graded(grade: Grade, premises: &Premises) -> String {
    match grade {
        Grade::Strong => grade.to_string(),
        Grade::Weak => format!("{grade}: {}", text(&premises.doubts())),
    }
}

fn contract(export: &ExportStatus) -> String {
    let access = if export.is_read_only { "read-only, " } else { "" };
    let Some(terms) = &export.contract else {
        return if export.is_soft {
            format!("{access}soft, without figures")
        } else {
            format!("{access}best effort, weight {}", export.weight)
        };
    };
    let access = if export.is_soft { format!("{access}soft, ") } else { access.to_owned() };
    let requests = terms.requests;
    let plural = if requests == 1 { "" } else { "s" };
    let op = terms.op.as_deref().or(export.is_read_only.then_some("read"));
    let what = op.map_or(format!("read{plural} or write"), text);
    let size = Bytes::new(terms.size_bytes_max);
    let period = Duration::from_ns(terms.period_ns);
    format!("{access}{requests} {what}{plural} of {size} every {period}")
}

fn beyond(export: &ExportStatus) -> String {
    export.contract.as_ref().map_or_else(|| "-".to_owned(), |terms| text(&terms.beyond))
}

/// Returns the first line of the statistics: the misses, excesses and failures of all exports.
pub(super) fn statistics_answer(seen: &Statistics) -> Answer {
    let sum = |of: fn(&ExportFigures) -> u64| seen.exports.iter().map(of).sum::<u64>();
    let counted = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let faults = [
        counted(sum(|export| export.misses), "missed a deadline"),
        counted(sum(|export| export.exceeded), "exceeded a bound"),
        counted(sum(|export| export.failed), "failed"),
    ];
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    let requests = figures::thousands(sum(|export| export.requests));
    let time = elapsed(seen.uptime_ns);
    let text = match faults.as_slice() {
        [] => format!("None of {requests} requests in {time} was late or failed"),
        faults => format!("Of {requests} requests in {time}, {}", faults.join(", ")),
    };
    match (seen.is_degraded, faults.is_empty()) {
        (true, _) => Answer::bad(format!("{text}; the guarantee is DEGRADED.")),
        (false, true) => Answer::good(text + "."),
        (false, false) => Answer::bad(text + "."),
    }
}

/// Returns notes on weaknesses of the statistics, and on the drive. A status, if there is one, was
/// taken at the same instant.
pub(super) fn notes(seen: &Statistics, status: Option<&Status>) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(status) = status {
        let says = guarantee(status);
        notes.push(match status.guarantee() {
            Guarantee::Stands { failed: 0 } => Note::plain("Guarantee", says),
            Guarantee::NotRequested => Note::doubtful("Guarantee", says),
            Guarantee::Stands { .. } | Guarantee::Degraded | Guarantee::NotProved => {
                Note::bad("Guarantee", says)
            }
        });
        let of_host = if status.real_time.is_granted { Note::plain } else { Note::doubtful };
        notes.push(of_host("Host", text(&status.real_time.text)));
    }
    let drive_seen = &seen.drive;
    let is_late = drive_seen.overruns > drive_seen.overruns_tolerated || drive_seen.stalls > 0;
    let of_drive = if is_late { Note::bad } else { Note::plain };
    notes.push(of_drive("Drive", drive(drive_seen)));
    let listed = |count: fn(&ExportFigures) -> u64| {
        let exports = seen.exports.iter().filter(|export| count(export) > 0);
        let excesses: Vec<_> = exports.map(|export| excess(export, count(export))).collect();
        (!excesses.is_empty()).then(|| excesses.join(", "))
    };
    if let Some(exports) = listed(|export| export.unexplained) {
        let text = format!(
            "{exports} exceeded the bound by more than the lateness of drive and host: the proof is \
             wrong, or a batch that could not be timed was late"
        );
        notes.push(Note::bad("Unexplained", text));
    }
    if let Some(exports) = listed(|export| export.beyond) {
        let text = format!("{exports} came beyond the contract: no bound holds for them");
        notes.push(Note::plain("Beyond", text));
    }
    notes
}

pub(super) fn write_statistics(seen: &Statistics, page: &mut Page) {
    let exports = &seen.exports;
    let cells = |of: fn(&ExportFigures) -> String| exports.iter().map(of).collect::<Vec<_>>();
    let columns = [
        ("export", cells(|export| text(&export.name))),
        ("requests", cells(|export| export.requests.to_string())),
        ("misses", cells(|export| export.misses.to_string())),
        ("exceeded", cells(|export| export.exceeded.to_string())),
        ("beyond", cells(|export| export.beyond.to_string())),
        ("failed", cells(|export| export.failed.to_string())),
        ("outstanding", cells(|export| export.outstanding.to_string())),
        ("tokens", cells(tokens)),
        ("p50", cells(|export| time(export.response_ns_p50))),
        ("p99", cells(|export| time(export.response_ns_p99))),
        ("p99.9", cells(|export| time(export.response_ns_p999))),
        ("max", cells(|export| time(export.response_ns_max))),
        ("bound", cells(|export| time(export.bound_ns))),
        ("data", cells(|export| megabytes(export.transferred_bytes))),
        ("flushes", cells(|export| export.flushes.to_string())),
    ];
    page.answer(&statistics_answer(seen));
    writeln!(page);
    let optional = ["flushes", "p99.9", "tokens", "beyond", "p50", "outstanding", "data", "failed"];
    page.put(Table::of_columns(&columns, 1).optional(&optional));
    writeln!(page);
    for note in notes(seen, None) {
        page.note(&note);
    }
}

/// Formats a number of an export's requests, for example `7 of 9 requests to "a"`.
fn excess(export: &ExportFigures, count: u64) -> String {
    let (count, all) = (figures::thousands(count), figures::thousands(export.requests));
    format!("{count} of {all} requests to `{}`", text(&export.name))
}

/// Formats the remaining tokens, for example `3 of 4`.
pub(crate) fn tokens(export: &ExportFigures) -> String {
    match export.tokens_max {
        0 => "-".to_owned(),
        most => format!("{} of {most}", export.tokens),
    }
}

/// Describes the drive's current and past load.
pub(crate) fn drive(drive: &DriveFigures) -> String {
    let overruns = drive.overruns;
    let worst = match overruns {
        0 => String::new(),
        _ => format!(", by at most {}", time(Some(drive.overrun_ns_max))),
    };
    let tolerated = match drive.overruns_tolerated {
        0 => String::new(),
        count => format!(" ({count} within what the proof tolerates)"),
    };
    let stalls = match drive.stalls {
        0 => String::new(),
        stalls => format!("; nothing came back for seconds, {}", count(stalls, "time")),
    };
    format!(
        "{} in flight; {} batches, longest {}; {overruns} longer than its table says{worst}{tolerated}{stalls}",
        drive.in_flight,
        drive.batches,
        time(drive.batch_ns_max),
    )
}

pub(super) fn write_heard(answer: &Heard, page: &mut Page) {
    if answer.is_heard {
        page.paragraph("The regulator of best effort receives it.");
    } else {
        page.paragraph("It has no effect: mdn hears misses, mdn-extended also ended streams, and both only exports \
             with soft = true.",);
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{}MB", bytes / 1_000_000, bytes / 100_000 % 10)
}

/// Formats an elapsed time, for example `1:02:03`.
pub(crate) fn elapsed(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Explains why a change is refused, and which change would fit or what to do.
pub(super) fn refusal(refused: &Failed, verb: CtlVerb) -> String {
    let what = if verb == CtlVerb::Remove { "Not removed" } else { "Not admitted" };
    let fits = refused.would_fit.iter().map(|entry| format!("\n  {}", text(entry)));
    let fits = fits.collect::<String>();
    let instead = match (fits.as_str(), refused.help.as_str()) {
        ("", "") => String::new(),
        ("", help) => format!("\nInstead: {}.", text(help)),
        (fits, _) => format!("\nWould fit:{fits}"),
    };
    format!("{what}: {}.{instead}", text(&refused.error))
}

pub(super) fn write_admitted(answer: &AdmittedExport, what: &str, page: &mut Page) {
    let (size, offset) = (answer.size_bytes, answer.offset_bytes);
    page.paragraph(format!(
        "`{}` {what}: {} of the store, from offset {}, policy `{}`.",
        text(&answer.export),
        Bytes::new(size),
        Bytes::new(offset),
        text(&answer.policy)
    ));
    write_bounds(&answer.bounds, &answer.note, page);
}

pub(super) fn write_removed(answer: &RemovedExport, page: &mut Page) {
    let free = if answer.is_free {
        "its space and its share of the drive are free"
    } else {
        "its space and its share of the drive are free after the next change: the other exports \
         left no quiet instant"
    };
    page.paragraph(format!("`{}` is removed; {free}.", text(&answer.export)));
    write_bounds(&answer.bounds, &answer.note, page);
}

/// Writes each export's current bound.
fn write_bounds(exports: &[ExportBound], note: &str, page: &mut Page) {
    let cells = |of: fn(&ExportBound) -> String| exports.iter().map(of).collect::<Vec<_>>();
    let columns = [
        ("export", cells(|export| text(&export.name))),
        ("deadline", cells(|export| time(export.deadline_ns))),
        ("bound", cells(|export| time(export.bound_ns))),
    ];
    writeln!(page);
    page.columns(&columns, 1);
    writeln!(page);
    page.paragraph(format!("This holds {}.", text(note)));
}

#[cfg(test)]
mod tests {
    use tidegate_engine::control::wire::ContractStatus;

    use super::*;

    #[test]
    fn a_refusal_says_what_would_fit_or_what_to_do() {
        let no = Failed {
            ok: false,
            error: "no".to_owned(),
            help: "wait".to_owned(),
            is_refused: true,
            would_fit: Vec::new(),
        };
        assert_eq!(refusal(&no, CtlVerb::Remove), "Not removed: no.\nInstead: wait.");
        let less = Failed { would_fit: vec!["half".to_owned()], ..no };
        assert_eq!(refusal(&less, CtlVerb::Admit), "Not admitted: no.\nWould fit:\n  half");
    }

    #[test]
    fn what_failed_is_in_the_sentence_about_the_guarantee() {
        let status = |failed: u64, is_degraded: bool| {
            let contract = ExportStatus {
                contract: Some(ContractStatus::default()),
                bound_ns: Some(1),
                failed,
                is_degraded,
                ..ExportStatus::default()
            };
            let other = ExportStatus { failed: 7, ..ExportStatus::default() };
            Status { is_degraded, exports: vec![contract, other], ..Status::default() }
        };
        for (failed, is_degraded, is_good, said) in [
            (0, false, true, "stands: no response"),
            (1, false, false, "stands for completed requests; 1 request with a contract failed"),
            (8, true, false, "DEGRADED"),
        ] {
            let status = status(failed, is_degraded);
            assert_eq!(status.is_guaranteed(), is_good, "{status:?}");
            assert!(guarantee(&status).starts_with(said), "{}", guarantee(&status));
        }
        let status = Status { degradations: 2, unchanged_ns: 65_000_000_000, ..status(0, false) };
        assert!(status.is_guaranteed());
        let said = "stands, for 0:01:05 now; it was degraded 2 times: see `statistics`";
        assert_eq!(guarantee(&status), said);
    }
}
