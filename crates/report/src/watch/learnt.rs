// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate watch --learn`.

use serde::Serialize;
use tidegate_model::{Bytes, Duration, Op};
use tidegate_watch::{Learnt, LearntPlace};

use crate::figures::{count, ms_ceil, thousands};
use crate::ns::Ns;
use crate::page::{Answer, Page, Report, Table, printable};

/// The workload of the programs that use a disk, as learnt by a watch.
#[derive(Debug, Serialize)]
pub struct LearnReport<'a> {
    device: &'a str,
    file: &'a str,
    duration_ns: Ns,
    lost_events: u64,
    sources: Vec<LearntReport<'a>>,
    /// The command that proves the learnt file.
    to_do: String,
}

#[derive(Debug, Serialize)]
struct LearntReport<'a> {
    name: &'a str,
    unit: Option<&'a str>,
    op: &'static str,
    requests: u64,
    size_bytes_max: u64,
    place: &'static str,
    /// The period; `None` for a source without one.
    period_ns: Option<Ns>,
    jitter_ns: Option<Ns>,
    jobs: Option<usize>,
    job_requests: Option<u32>,
    outstanding_max: u32,
    response_ns_max: Option<Ns>,
}

impl<'a> LearnReport<'a> {
    /// Reports the workload that was learnt from a device and written to a file; `to_do` is the
    /// next command.
    pub fn of(
        (device, file): (&'a str, &'a str),
        (duration, lost_events): (Duration, u64),
        learnt: &'a [Learnt],
        to_do: String,
    ) -> Self {
        let sources = learnt.iter().map(LearntReport::of).collect();
        Self { device, file, duration_ns: duration.into(), lost_events, sources, to_do }
    }
}

impl<'a> LearntReport<'a> {
    fn of(learnt: &'a Learnt) -> Self {
        let rhythm = learnt.rhythm.as_ref();
        Self {
            name: &learnt.name,
            unit: learnt.unit.as_deref(),
            op: learnt.op.name(),
            requests: learnt.requests,
            size_bytes_max: learnt.size_max.get(),
            place: match learnt.place {
                LearntPlace::Random => "random",
                LearntPlace::Sequential => "sequential",
                LearntPlace::Range { .. } => "range",
            },
            period_ns: Ns::of(rhythm.map(|rhythm| rhythm.period)),
            jitter_ns: Ns::of(rhythm.map(|rhythm| rhythm.jitter)),
            jobs: rhythm.map(|rhythm| rhythm.jobs),
            job_requests: rhythm.map(|rhythm| rhythm.requests),
            outstanding_max: learnt.outstanding_max,
            response_ns_max: Ns::of(learnt.response_max),
        }
    }

    fn row(&self) -> Vec<String> {
        let time = |time: Option<Ns>| time.map_or("-".to_owned(), |Ns(time)| time.to_string());
        let at_once = self.job_requests.unwrap_or(self.outstanding_max);
        vec![
            printable(self.unit.unwrap_or(self.name)),
            self.op.to_owned(),
            thousands(self.requests),
            time(self.period_ns),
            at_once.to_string(),
            Bytes::new(self.size_bytes_max).to_string(),
            self.place.to_owned(),
            self.response_ns_max.map_or("-".to_owned(), |Ns(time)| ms_ceil(time)),
        ]
    }
}

impl Report for LearnReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let tasks = self.sources.iter().filter(|it| it.period_ns.is_some()).count();
        let loads = self.sources.len() - tasks;
        let text = format!(
            "WRITTEN: {}: {} and {}, learnt from {} in {}",
            printable(self.file),
            count(tasks, "task"),
            count(loads, "load"),
            self.device,
            super::text::seconds(self.duration_ns)
        );
        Some(match self.lost_events {
            0 => Answer::good(text),
            lost => Answer::doubtful(format!("{text}; {} lost", count(thousands(lost), "event"))),
        })
    }

    fn write(&self, page: &mut Page) {
        let header = ["source", "op", "requests", "period", "at once", "size", "place", "longest"];
        let rows = self.sources.iter().map(LearntReport::row).collect();
        page.put(Table::new(&header, rows, 2).optional(&["longest", "place"]));
        writeln!(page);
        page.labelled("Read it", "it shows what programs did, not what they may do: correct it");
        if self.sources.iter().any(|source| source.op == Op::Write.name()) {
            let text = "measuring them destroys the data of the disk, so this command does not; measure a \
                        spare one of the same model with `--op read,write --allow-writes`";
            page.labelled("Writes", text);
        }
        page.command("To do", &self.to_do);
    }
}
