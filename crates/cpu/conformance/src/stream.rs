// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Streams: small scenarios that each expose one defect, with the behaviour of the corrected
//! server. They are data files with one JSON object per line; docs/reference/conformance.md
//! describes them.

use serde::Deserialize;
use tidegate_cpu_model::{
    Arrivals, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority, Scheduling,
    ServerKind, ServerParams,
};
use tidegate_model::Duration;

use crate::case::Case;
use crate::trace::TraceLine;

/// The priority of the server under test; tasks are numbered upwards and downwards from it.
const SERVER_PRIORITY: u32 = 1_000;

tidegate_model::names! {
    /// The kind of defect that a stream exposes.
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum DefectKind {
        /// Budget is replenished earlier than a period after its activation.
        PrematureReplenishment => "premature-replenishment",
        /// Overruns enlarge replenishments.
        BudgetAmplification => "budget-amplification",
        /// A budget is enforced late.
        Overrun => "overrun",
        /// Small jobs cut the budget into many chunks, each of which costs a charged preemption.
        Fragmentation => "fragmentation",
        /// Budget is lost without execution.
        LostService => "lost-service",
    }
}

/// A scenario that exposes one defect.
#[derive(Debug, Clone)]
pub struct Stream {
    /// The stream's name.
    pub name: String,
    /// The kind of defect that the stream exposes.
    pub family: DefectKind,
    /// The stream's description.
    pub story: String,
    /// The processor, and the duration of the run.
    pub case: Case,
    /// The calls of the corrected server, and its status after each.
    pub expected: Vec<TraceLine>,
}

/// Why a file is not a stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The line is not of one of the four kinds.
    #[error("line {line}: {source}")]
    Line {
        /// The line's number, from 1.
        line: usize,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// The first line does not describe the stream, or a later line does.
    #[error("the first line does not describe the stream; start with {{\"stream\": ..}}")]
    HeadMissing,
    /// The server's parameters are invalid.
    #[error(transparent)]
    Server(#[from] tidegate_cpu_model::ServerParamsError),
}

/// One line of a stream file.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum StreamLine {
    Head(Head),
    Task(TaskLine),
    Job { job_at_us: u64, execution_us: u64 },
    Expected { expect: TraceLine },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    stream: String,
    family: DefectKind,
    story: String,
    budget_us: u64,
    period_us: u64,
    replenishments_max: u32,
    overrun_us: u64,
    #[serde(default)]
    preemption_charge_us: u64,
    until_us: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskLine {
    task: String,
    above: bool,
    execution_us: u64,
    period_us: u64,
    #[serde(default)]
    offset_us: u64,
}

impl Stream {
    /// Reads the text of a stream file.
    ///
    /// # Errors
    /// Returns the error of the first invalid line.
    pub fn parse(text: &str) -> Result<Self, StreamError> {
        let read = |(line, text): (usize, &str)| {
            serde_json::from_str(text)
                .map_err(|source| StreamError::Line { line: line + 1, source })
        };
        let mut lines = text.lines().enumerate().map(read);
        let Some(StreamLine::Head(head)) = lines.next().transpose()? else {
            return Err(StreamError::HeadMissing);
        };
        let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
        workload.timer_latency = Duration::from_us(head.overrun_us);
        workload.servers.push(server(&head)?);
        let mut expected = Vec::new();
        for line in lines {
            match line? {
                StreamLine::Head(_) => return Err(StreamError::HeadMissing),
                StreamLine::Task(task) => {
                    let task = task_of(&task, workload.tasks.len());
                    workload.tasks.push(task);
                }
                StreamLine::Job { job_at_us, execution_us } => {
                    let job = job(workload.work.len(), job_at_us, execution_us);
                    workload.work.push(job);
                }
                StreamLine::Expected { expect } => expected.push(expect),
            }
        }
        let duration = Duration::from_us(head.until_us);
        Ok(Self {
            name: head.stream,
            family: head.family,
            story: head.story,
            case: Case { workload, duration, seed: 0 },
            expected,
        })
    }
}

impl Stream {
    /// Returns the stream with all times multiplied by `factor`, including the expected ones.
    pub(crate) fn lengthened(mut self, factor: u64) -> Self {
        self.case = self.case.lengthened(factor);
        self.expected = self.expected.into_iter().map(|it| it.lengthened(factor)).collect();
        self
    }
}

fn server(head: &Head) -> Result<CpuServer, StreamError> {
    let us = Duration::from_us;
    let params = ServerParams {
        replenishments_max: head.replenishments_max,
        preemption_charge: us(head.preemption_charge_us),
        ..ServerParams::new(ServerKind::Sporadic, us(head.budget_us), us(head.period_us))
    };
    Ok(CpuServer::new("server", Priority(SERVER_PRIORITY), params.checked()?))
}

/// Creates a task; earlier tasks in the file are more urgent.
fn task_of(line: &TaskLine, tasks_before: usize) -> CpuTask {
    let us = Duration::from_us;
    let step = u32::try_from(tasks_before).expect("a stream has a few tasks");
    let top = if line.above { 2 * SERVER_PRIORITY } else { SERVER_PRIORITY - 1 };
    CpuTask {
        offset: us(line.offset_us),
        ..CpuTask::new(&line.task, us(line.execution_us), us(line.period_us), Priority(top - step))
    }
}

fn job(number: usize, at_us: u64, execution_us: u64) -> CpuWork {
    CpuWork::new(
        format!("job {number}"),
        0,
        Arrivals::At(vec![Duration::from_us(at_us)]),
        Execution::Fixed(Duration::from_us(execution_us)),
    )
}

/// The files of the streams, in the order of the families.
const FILES: [&str; 19] = [
    include_str!("../streams/premature-table-6.1.jsonl"),
    include_str!("../streams/premature-figure-6.9.jsonl"),
    include_str!("../streams/amplification-figure-6.1.jsonl"),
    include_str!("../streams/amplification-halves.jsonl"),
    include_str!("../streams/amplification-eighths.jsonl"),
    include_str!("../streams/overrun-saturated.jsonl"),
    include_str!("../streams/overrun-figure-6.6.jsonl"),
    include_str!("../streams/overrun-beyond-chunks.jsonl"),
    include_str!("../streams/overrun-preempted.jsonl"),
    include_str!("../streams/overrun-past-chunks.jsonl"),
    include_str!("../streams/overrun-reach.jsonl"),
    include_str!("../streams/overrun-blocks.jsonl"),
    include_str!("../streams/fragmentation-limit.jsonl"),
    include_str!("../streams/fragmentation-single.jsonl"),
    include_str!("../streams/fragmentation-merging.jsonl"),
    include_str!("../streams/fragmentation-idle.jsonl"),
    include_str!("../streams/fragmentation-charged.jsonl"),
    include_str!("../streams/lost-service-saturated.jsonl"),
    include_str!("../streams/lost-service-delayed.jsonl"),
];

/// Returns the streams of the suite.
///
/// # Panics
/// Never: the suite's own files are valid.
pub fn streams() -> Vec<Stream> {
    FILES.iter().map(|text| Stream::parse(text).unwrap_or_else(|error| panic!("{error}"))).collect()
}
