// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The curves behind bounds: the amounts of work that a proof counts as requested and as served,
//! and the wait between them.

use tidegate_analysis::curves::Argument;

use super::chart::MS;
use super::frame::{Frame, WIDE};
use super::html::Markup;
use super::ms;
use super::sheet::Sheet;
use crate::plot::Axis;
use crate::result::{CurvesRecord, DrawnRecord, Shows};

/// The largest number of pairs of curves that are drawn.
const DRAWN_MAX: usize = 4;

/// Writes the curves of these bounds, each with a sentence, and the reasons why others have none.
pub(super) fn section(sheet: &mut impl Sheet, curves: &[CurvesRecord]) {
    let of_bound = |record: &&CurvesRecord| record.bound_ns.is_some();
    let (drawn, others): (Vec<_>, Vec<_>) =
        curves.iter().filter(of_bound).partition(|record| record.drawn.is_some());
    if drawn.is_empty() && others.is_empty() {
        return;
    }
    sheet.heading(4, "Request and supply curves");
    for record in drawn.iter().take(DRAWN_MAX) {
        let Some(curves) = &record.drawn else { continue };
        sheet.wide_chart(&chart(&tasks(record), curves));
        sheet.paragraph(&sentence(record, curves));
    }
    if drawn.len() > DRAWN_MAX {
        sheet.note(&format!("{} more pairs of curves are not drawn.", drawn.len() - DRAWN_MAX));
    }
    for record in others {
        let reason = record.reason.as_deref().unwrap_or("it has none");
        sheet.paragraph(&format!("No curve shows the bound of {}: {reason}.", tasks(record)));
    }
}

/// Names the tasks of a record.
fn tasks(record: &CurvesRecord) -> String {
    match &record.tasks[..] {
        [] => String::new(),
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
    }
}

/// Explains how the curves show the bound.
fn sentence(record: &CurvesRecord, curves: &DrawnRecord) -> String {
    let [from, to, after] = [curves.from_ns, curves.to_ns, curves.after_ns].map(|ns| ms(Some(ns)));
    let wait = ms(Some(curves.to_ns.saturating_sub(curves.from_ns)));
    let mut text = match curves.shows {
        Shows::Distance => format!(
            "The largest horizontal distance is {wait}: a request that is released at {from} is \
             complete at {to} at the latest."
        ),
        Shows::Meeting if curves.after_ns > 0 => format!(
            "The curves meet at {to}: every request that can be released by then is sent. The last \
             batch takes {after} more."
        ),
        Shows::Meeting => format!(
            "The curves meet at {to}: a job that waits so long, and all that can be ahead of it, is \
             complete by then."
        ),
    };
    if curves.outside_ns > 0 {
        text = format!("{text} Jitter and host add {}.", ms(Some(curves.outside_ns)));
    }
    format!("{text} This is the bound of {}: {}.", tasks(record), ms(record.bound_ns))
}

/// Returns the names of both curves, and of the time between them.
fn names(argument: Option<Argument>) -> [&'static str; 3] {
    match argument {
        Some(Argument::Batches) => {
            ["in flight and released", "complete", "time from the dispatch of the batch in flight"]
        }
        Some(Argument::MinPeriod) => {
            ["released", "complete", "time from the dispatch of the batch in flight"]
        }
        Some(Argument::BusyInterval) => {
            ["released before", "sent", "time from the dispatch of the batch in flight"]
        }
        Some(Argument::Linear) => ["released in a window", "complete", "length of the window"],
        Some(Argument::Fifo) => ["released", "complete", "time from the begin of a busy interval"],
        Some(Argument::FifoBehindLoops) => {
            ["ahead, or in the job", "complete", "response time of the job"]
        }
        None => ["requested", "served", "time"],
    }
}

/// Draws a pair of curves and the line that shows the wait.
fn chart(tasks: &str, curves: &DrawnRecord) -> String {
    let last = |steps: &[(u64, u64)]| steps.last().copied().unwrap_or_default();
    let (requested, served) = (last(&curves.requested_ns_steps), last(&curves.served_ns_steps));
    let end = requested.0.max(served.0).max(curves.to_ns);
    let [released, complete, time] = names(Argument::from_name(&curves.argument));
    let x = Axis::ending_at(end.saturating_add(end / 20), time, MS);
    let up = Axis::reaching(requested.1.max(served.1), "requests", ("requests", 1));
    let stairs = |steps: &[(u64, u64)]| {
        let mut path = Markup::default();
        write!(path, "M0 {}", WIDE.height);
        for &(at, requests) in steps {
            write!(path, "H{}V{}", WIDE.across(&x, at), WIDE.down(&up, requests));
        }
        write!(path, "H{}", WIDE.inner());
        path.into_text()
    };
    let [from, to] = [curves.from_ns, curves.to_ns].map(|at| WIDE.across(&x, at));
    let mut picture = Markup::default();
    writeln!(
        picture,
        "<path class=\"curve\" d=\"{}\"/><path class=\"supply\" d=\"{}\"/>\
         <path class=\"distance\" d=\"M{from} {height}H{to}\"/>",
        stairs(&curves.requested_ns_steps),
        stairs(&curves.served_ns_steps),
        height = WIDE.down(&up, curves.requests),
    );
    let wait = ms(Some(curves.to_ns.saturating_sub(curves.from_ns)));
    let longest = match curves.shows {
        Shows::Distance => format!("largest distance {wait}"),
        Shows::Meeting => format!("they meet at {wait}"),
    };
    let legend = [("curve", released), ("supply", complete), ("distance", &longest)];
    let frame = Frame {
        outline: WIDE,
        title: &format!("Requests behind the bound of {tasks}"),
        remark: &longest,
        legend: &legend,
        x: &x,
        labels: WIDE.labels(&up),
    };
    frame.draw(&picture.into_text())
}
