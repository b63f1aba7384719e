// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The steps of a bound: the waits of a job in the worst case, with numbers.

use serde::Serialize;
use tidegate_analysis::Explanation;
use tidegate_model::{Duration, HostTime};

use crate::figures;
use crate::ns::Ns;
use crate::page::Page;

/// The host's time in the steps.
#[derive(Debug, Clone, Copy, Serialize)]
#[expect(clippy::struct_field_names, reason = "keys of the JSON output")]
struct HostSteps {
    host_release_ns: Ns,
    host_reply_ns: Ns,
    /// The host's time in each of the batches.
    host_batch_ns: Ns,
}

impl HostSteps {
    /// Returns the steps; `None` if the host takes no time.
    fn of(time: HostTime, in_batch: Duration) -> Option<Self> {
        let [host_release_ns, host_reply_ns] = [time.release, time.reply].map(Ns);
        let host_batch_ns = Ns(in_batch);
        let steps = Self { host_release_ns, host_reply_ns, host_batch_ns };
        (time != HostTime::default()).then_some(steps)
    }

    /// Returns the steps as rows: those before the policy sees the job, and those after the job is
    /// complete.
    fn rows(self) -> [Vec<String>; 2] {
        let row = |step: &str, what: &str, time: Ns| {
            vec![step.to_owned(), what.to_owned(), figures::ms_ceil(time.0)]
        };
        [
            row("host", "the job's way to the policy", self.host_release_ns),
            row("host", "the answer's way to the client", self.host_reply_ns),
        ]
    }
}

/// The steps of a task's bound, which add up to the bound.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct StepsReport {
    carry_in_requests: u64,
    carry_in_ns_max: Ns,
    full_batches: u64,
    full_batch_requests: u32,
    full_batch_ns_max: Ns,
    last_batch_requests: u64,
    last_batch_ns_max: Ns,
    released_ns: Ns,
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter_ns: Option<Ns>,
    #[serde(flatten)]
    host: Option<HostSteps>,
    #[serde(skip)]
    fill: u32,
}

impl StepsReport {
    pub(super) fn of(explanation: &Explanation) -> Self {
        let Explanation { steps, batch_max, best_effort_fill, .. } = *explanation;
        Self {
            carry_in_requests: steps.carry_in,
            carry_in_ns_max: explanation.carry_in_max.into(),
            full_batches: steps.full_batches,
            full_batch_requests: batch_max,
            full_batch_ns_max: explanation.full_batch_max.into(),
            last_batch_requests: steps.last_batch,
            last_batch_ns_max: explanation.last_batch_max.into(),
            released_ns: explanation.released.into(),
            jitter_ns: (!explanation.jitter.is_zero()).then_some(Ns(explanation.jitter)),
            host: HostSteps::of(explanation.host, explanation.host_in_batch),
            fill: best_effort_fill,
        }
    }

    /// Writes a line for each step of the task's bound.
    pub(super) fn write(&self, name: &str, bound: Duration, page: &mut Page) {
        let full = Duration::from_ns(self.full_batch_ns_max.0.ns() * self.full_batches);
        let row = |step: &str, what: String, time: String| vec![step.to_owned(), what, time];
        let mut rows = vec![
            row("carry-in", self.carry_in(), figures::ms_ceil(self.carry_in_ns_max.0)),
            row("batches", self.batches(), figures::ms_ceil(full)),
            row("last batch", self.last_batch(), figures::ms_ceil(self.last_batch_ns_max.0)),
        ];
        if !self.released_ns.0.is_zero() {
            let what = "released after the start of the carry-in".to_owned();
            rows.push(row("release", what, format!("-{}", figures::ms_floor(self.released_ns.0))));
        }
        if let Some(Ns(jitter)) = self.jitter_ns {
            let what = "seen late after its arrival".to_owned();
            rows.insert(0, row("jitter", what, figures::ms_ceil(jitter)));
        }
        if let Some(host) = self.host {
            let [before, after] = host.rows();
            rows.insert(0, before);
            rows.push(after);
        }
        rows.push(row("bound", "the sum".to_owned(), figures::ms_ceil(bound)));
        writeln!(page);
        page.paragraph(format!("Steps to the bound of {name}:"));
        writeln!(page);
        page.table(&["step", "what a job waits for at worst", "takes"], rows, 2);
        if let Some(HostSteps { host_batch_ns, .. }) = self.host {
            let of_batch = figures::ms_ceil(host_batch_ns.0);
            page.paragraph(format!("Each batch contains {of_batch} of the host."));
        }
    }

    fn carry_in(&self) -> String {
        match self.carry_in_requests {
            0 if self.fill == 0 => "nothing is in flight".to_owned(),
            0 => format!("a batch of {} of best effort", self.fill),
            count => format!("a batch of {}", self.filled(count)),
        }
    }

    fn batches(&self) -> String {
        match self.full_batches {
            0 => "none: the next batch takes the job".to_owned(),
            1 => format!("1 full batch of {}", self.full_batch_requests),
            count => format!("{count} full batches of {}", self.full_batch_requests),
        }
    }

    fn last_batch(&self) -> String {
        format!("the job's own, of {}", self.filled(self.last_batch_requests))
    }

    /// Describes a batch that best effort can fill.
    fn filled(&self, count: u64) -> String {
        if count < u64::from(self.fill) {
            format!("{count}, filled up to {}", self.fill)
        } else {
            count.to_string()
        }
    }
}
