// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads the CPU tables of a workload file, and reports errors with their position in the file.

use std::collections::BTreeSet;

use toml::Spanned;

use super::file_raw::{RawBackground, RawCpuPart, RawCpuServer, RawCpuTask, RawCpuWork};
use super::interference::read_interference;
use super::{
    Arrivals, Assignment, Background, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution,
    Priority, Scheduling, ServerKind, ServerParams, TaskArrivals,
};
use tidegate_model::FileError;
use tidegate_model::entry::named;
use tidegate_model::entry::{claim, positive, read_count, within_time_max};
use tidegate_model::units::Duration;

/// The largest number of instants in an `at` list; a longer list is a trace, not a workload.
const AT_MAX: usize = 100_000;

/// Reads the processor part of a workload file; `None` if the file has none.
pub(crate) fn read(raw: RawCpuPart) -> Result<Option<CpuWorkload>, FileError> {
    if raw.is_empty() {
        return Ok(None);
    }
    let span = raw.cpu.as_ref().map_or(0..0, Spanned::span);
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    let mut assignment = Assignment::Written;
    if let Some(cpu) = raw.cpu.map(Spanned::into_inner) {
        let scheduling = cpu.scheduling.as_ref();
        workload.scheduling =
            named(scheduling, "scheduling", Scheduling::from_name, &Scheduling::ALL)?
                .unwrap_or(Scheduling::FixedPriority);
        assignment = read_assignment(cpu.priorities.as_ref(), workload.scheduling)?;
        workload.switch = within_time_max(cpu.switch, span.clone(), "context switch")?;
        workload.timer_latency = within_time_max(cpu.timer_latency, span.clone(), "timer latency")?;
    }
    if raw.tasks.is_empty() && raw.servers.is_empty() {
        return Err(FileError::new(
            span,
            "the processor has neither a [[cpu_task]] nor a [[cpu_server]]",
            "add at least one of them",
        ));
    }
    let mut names = BTreeSet::new();
    for task in &raw.tasks {
        read_task(task, &mut names, assignment, &mut workload)?;
    }
    for server in &raw.servers {
        let server = read_server(server, &mut names, (workload.scheduling, assignment))?;
        workload.servers.push(server);
    }
    for work in raw.work {
        let work = read_work(work, &mut names, &workload.servers)?;
        workload.work.push(work);
    }
    for interference in &raw.interference {
        workload.interference.push(read_interference(interference)?);
    }
    if !assignment.apply(&mut workload) {
        return Err(FileError::new(
            span,
            "no levels are left above the background levels",
            "write a lower `background`",
        ));
    }
    Ok(Some(workload))
}

/// Appends the tasks of one `[[cpu_task]]` table: a single task, or `count` numbered tasks.
fn read_task(
    raw: &RawCpuTask,
    names: &mut BTreeSet<String>,
    assignment: Assignment,
    workload: &mut CpuWorkload,
) -> Result<(), FileError> {
    let period = positive(&raw.period, "period")?;
    let execution = positive(&raw.execution, "execution")?;
    let deadline = raw.deadline.as_ref().map(|it| positive(it, "deadline")).transpose()?;
    let priority =
        read_priority(raw.priority.as_ref(), &raw.name, (workload.scheduling, assignment))?;
    for (time, what) in [(raw.offset, "offset"), (raw.jitter, "jitter"), (raw.blocking, "blocking")]
    {
        within_time_max(time, raw.name.span(), what)?;
    }
    let arrivals = raw.arrivals.as_ref();
    let arrivals = named(arrivals, "arrivals", TaskArrivals::from_name, &TaskArrivals::ALL)?;
    for number in 1..=read_count(raw.count.as_ref(), workload.tasks.len(), "task")? {
        let name = match raw.count {
            Some(_) => format!("{}-{number}", raw.name.get_ref()),
            None => raw.name.get_ref().clone(),
        };
        claim(&name, &raw.name, names)?;
        workload.tasks.push(CpuTask {
            deadline: deadline.unwrap_or(period),
            offset: raw.offset,
            jitter: raw.jitter,
            blocking: raw.blocking,
            arrivals: arrivals.unwrap_or(TaskArrivals::Periodic),
            ..CpuTask::new(name, execution, period, priority)
        });
    }
    Ok(())
}

fn read_server(
    raw: &RawCpuServer,
    names: &mut BTreeSet<String>,
    (scheduling, assignment): (Scheduling, Assignment),
) -> Result<CpuServer, FileError> {
    claim(raw.name.get_ref(), &raw.name, names)?;
    let kind = named(Some(&raw.kind), "kind of server", ServerKind::from_name, &ServerKind::ALL)?
        .expect("a kind is written");
    let priority = read_priority(raw.priority.as_ref(), &raw.name, (scheduling, assignment))?;
    let (budget, period) = (positive(&raw.budget, "budget")?, positive(&raw.period, "period")?);
    check_effects(raw, kind, scheduling)?;
    let defaults = ServerParams::new(kind, budget, period);
    let params = ServerParams {
        replenishments_max: value(raw.replenishments.as_ref(), defaults.replenishments_max),
        preemption_charge: value(raw.preemption_charge.as_ref(), Duration::ZERO),
        ..defaults
    };
    let params = params.checked().map_err(|error| {
        let message = error.to_string();
        let (wrong, help) =
            message.rsplit_once("; ").expect("a message has the form `fault; help`");
        FileError::new(parameter_span(raw, &error), wrong, help)
    })?;
    Ok(CpuServer {
        background: read_background(raw.background.as_ref(), priority, scheduling)?,
        queued_max: read_queue(raw.queue.as_ref())?,
        blocking: within_time_max(raw.blocking, raw.name.span(), "blocking")?,
        ..CpuServer::new(raw.name.get_ref(), priority, params)
    })
}

fn value<T: Copy>(written: Option<&Spanned<T>>, default: T) -> T {
    written.map_or(default, |written| *written.get_ref())
}

/// Returns the position in the file of the parameter that `error` is about.
fn parameter_span(raw: &RawCpuServer, error: &super::ServerParamsError) -> std::ops::Range<usize> {
    use super::ServerParamsError as Error;
    let span = match error {
        Error::ReplenishmentsZero | Error::ReplenishmentsTooMany { .. } => {
            raw.replenishments.as_ref().map(Spanned::span)
        }
        Error::ChargeAboveBudget { .. } => raw.preemption_charge.as_ref().map(Spanned::span),
        Error::BudgetZero | Error::BudgetAbovePeriod { .. } => None,
    };
    span.unwrap_or_else(|| raw.budget.span())
}

/// Refuses lines that have no effect, and under EDF the server kinds that have no deadline.
fn check_effects(
    raw: &RawCpuServer,
    kind: ServerKind,
    scheduling: Scheduling,
) -> Result<(), FileError> {
    if !kind.has_budget() && scheduling == Scheduling::Edf {
        return Err(FileError::new(
            raw.kind.span(),
            format!("a {kind} server has no budget, so under edf it has no deadline"),
            "write another kind of server, or scheduling = \"fixed-priority\" under [cpu]",
        ));
    }
    let replenishments = raw.replenishments.as_ref().map(Spanned::span);
    let charge = raw.preemption_charge.as_ref().map(Spanned::span);
    for (line, has_effect, other) in [
        (replenishments, kind.has_replenishments(), "a sporadic kind of server"),
        (charge, kind.has_budget(), "another kind of server"),
    ] {
        if let (Some(span), false) = (line, has_effect) {
            let why =
                if kind.has_budget() { "is replenished once a period" } else { "has no budget" };
            return Err(FileError::new(
                span,
                format!("a {kind} server {why}, so this line has no effect"),
                format!("remove the line, or write {other}"),
            ));
        }
    }
    Ok(())
}

fn read_background(
    raw: Option<&Spanned<RawBackground>>,
    priority: Priority,
    scheduling: Scheduling,
) -> Result<Background, FileError> {
    let Some(written) = raw else { return Ok(Background::Never) };
    match written.get_ref() {
        RawBackground::Word(word) if word == "never" => Ok(Background::Never),
        RawBackground::Word(word) => Err(FileError::new(
            written.span(),
            format!("`{word}` is not a background priority"),
            "write \"never\", or a priority such as 1",
        )),
        RawBackground::Priority(_) if scheduling == Scheduling::Edf => Err(FileError::new(
            written.span(),
            "edf has no priorities",
            "write \"never\", or scheduling = \"fixed-priority\" under [cpu]",
        )),
        RawBackground::Priority(background) if Priority(*background) >= priority => {
            Err(FileError::new(
                written.span(),
                format!("background {background} is not below the server's priority {priority}"),
                "write a lower priority, or \"never\"",
            ))
        }
        RawBackground::Priority(background) => Ok(Background::At(Priority(*background))),
    }
}

fn read_queue(queue: Option<&Spanned<u32>>) -> Result<u32, FileError> {
    match queue {
        Some(zero) if *zero.get_ref() == 0 => Err(FileError::new(
            zero.span(),
            "with a queue of 0 jobs every job would be lost",
            "write how many jobs may wait, or remove the line",
        )),
        Some(many) if *many.get_ref() > 1 << 24 => Err(FileError::new(
            many.span(),
            "a queue of more than 16 million jobs is too long",
            "write a smaller number",
        )),
        queue => Ok(value(queue, CpuServer::QUEUED_MAX_DEFAULT)),
    }
}

fn read_work(
    raw: RawCpuWork,
    names: &mut BTreeSet<String>,
    servers: &[CpuServer],
) -> Result<CpuWork, FileError> {
    claim(raw.name.get_ref(), &raw.name, names)?;
    let server = raw.server.get_ref();
    let server = servers.iter().position(|known| known.name == *server).ok_or_else(|| {
        let known: Vec<&str> = servers.iter().map(|known| known.name.as_str()).collect();
        let help = match known[..] {
            [] => "add a [[cpu_server]] of that name".to_owned(),
            _ => format!("write one of {}", known.join(", ")),
        };
        FileError::new(raw.server.span(), format!("there is no [[cpu_server]] `{server}`"), help)
    })?;
    let execution = positive(&raw.execution, "execution")?;
    let execution = match raw.distribution.as_ref().map(|word| (word, word.get_ref().as_str())) {
        None | Some((_, "fixed")) => Execution::Fixed(execution),
        Some((_, "exponential")) => Execution::Exponential { mean: execution },
        Some((word, text)) => {
            return Err(FileError::new(
                word.span(),
                format!("execution times have no distribution `{text}`"),
                "write one of fixed, exponential",
            ));
        }
    };
    let deadline = raw.deadline.as_ref().map(|it| positive(it, "deadline")).transpose()?;
    within_time_max(raw.offset, raw.name.span(), "offset")?;
    let arrivals = read_arrivals(&raw)?;
    let (name, offset) = (raw.name.into_inner(), raw.offset);
    Ok(CpuWork { name, server, arrivals, execution, deadline, offset })
}

fn read_arrivals(raw: &RawCpuWork) -> Result<Arrivals, FileError> {
    let arrivals = raw.arrivals.as_ref().map(|word| word.get_ref().as_str());
    if let Some(at) = &raw.at {
        return read_instants(at, raw);
    }
    let gap = || match &raw.gap {
        Some(gap) => positive(gap, "gap"),
        None => Err(FileError::new(
            raw.name.span(),
            "the time between arrivals is not given",
            "add gap = \"1ms\", or a list of instants, at = [\"0ms\", \"5ms\"]",
        )),
    };
    if let (Some(burst), false) = (&raw.burst, arrivals == Some("bursty")) {
        return Err(FileError::new(
            burst.span(),
            "only bursty arrivals have a burst",
            "write arrivals = \"bursty\", or remove the line",
        ));
    }
    match arrivals {
        None | Some("poisson") => Ok(Arrivals::Poisson { gap_mean: gap()? }),
        Some("periodic") => Ok(Arrivals::Periodic { period: gap()? }),
        Some("sporadic") => Ok(Arrivals::Sporadic { gap_min: gap()? }),
        Some("bursty") => Ok(Arrivals::Bursty { burst: read_burst(raw)?, gap_mean: gap()? }),
        Some(other) => Err(FileError::new(
            raw.arrivals.as_ref().map_or(0..0, Spanned::span),
            format!("there are no arrivals `{other}`"),
            "write one of poisson, periodic, sporadic, bursty, or a list, at = [\"0ms\"]",
        )),
    }
}

fn read_burst(raw: &RawCpuWork) -> Result<u32, FileError> {
    match &raw.burst {
        Some(burst) if (1..=1 << 16).contains(burst.get_ref()) => Ok(*burst.get_ref()),
        burst => Err(FileError::new(
            burst.as_ref().map_or_else(|| raw.name.span(), Spanned::span),
            "bursty arrivals need the number of jobs in a burst",
            "add burst = 10; 1 to 65536",
        )),
    }
}

fn read_instants(at: &Spanned<Vec<Duration>>, raw: &RawCpuWork) -> Result<Arrivals, FileError> {
    let other = [
        raw.arrivals.as_ref().map(Spanned::span),
        raw.gap.as_ref().map(Spanned::span),
        raw.burst.as_ref().map(Spanned::span),
    ];
    if let Some(span) = other.into_iter().flatten().next() {
        return Err(FileError::new(
            span,
            "the instants of arrival are listed, so this line has no effect",
            "remove it, or remove `at`",
        ));
    }
    let instants = at.get_ref();
    if instants.len() > AT_MAX || !instants.is_sorted() {
        return Err(FileError::new(
            at.span(),
            "the instants are not in ascending order, or there are more than 100000",
            "write at most 100000 instants in ascending order",
        ));
    }
    if let Some(&last) = instants.last() {
        within_time_max(last, at.span(), "last arrival")?;
    }
    Ok(Arrivals::At(instants.clone()))
}

/// Reads how priorities are assigned. Under EDF, which has no priorities, the line is an error.
fn read_assignment(
    written: Option<&Spanned<String>>,
    scheduling: Scheduling,
) -> Result<Assignment, FileError> {
    let Some(word) = written else { return Ok(Assignment::Written) };
    if scheduling == Scheduling::Edf {
        return Err(without_effect(word, EDF_HAS_NONE));
    }
    let found =
        named(written, "assignment of priorities", Assignment::from_name, &Assignment::ALL)?;
    Ok(found.unwrap_or_default())
}

/// The error message and the remedy for a priority that is written under EDF.
const EDF_HAS_NONE: [&str; 2] = [
    "edf has no priorities, so this line has no effect",
    "remove it, or write scheduling = \"fixed-priority\" under [cpu]",
];

fn without_effect<T>(line: &Spanned<T>, [wrong, help]: [&str; 2]) -> FileError {
    FileError::new(line.span(), wrong, help)
}

/// A placeholder for a priority that is assigned later; a file can state only lower priorities.
const LATER: Priority = Priority(u32::MAX);

/// Reads a priority. Under EDF, or if `[cpu]` assigns the priorities, stating one is an error.
fn read_priority(
    priority: Option<&Spanned<u32>>,
    name: &Spanned<String>,
    (scheduling, assignment): (Scheduling, Assignment),
) -> Result<Priority, FileError> {
    let is_written = scheduling == Scheduling::FixedPriority && assignment == Assignment::Written;
    match (priority, scheduling) {
        (Some(priority), _) if is_written => Ok(Priority(*priority.get_ref())),
        (None, _) if is_written => Err(FileError::new(
            name.span(),
            "no priority is given",
            "add priority = 10 (larger is more urgent), or under [cpu] \
             priorities = \"deadline-monotonic\" or scheduling = \"edf\"",
        )),
        (None, Scheduling::Edf) => Ok(Priority(0)),
        (None, Scheduling::FixedPriority) => Ok(LATER),
        (Some(line), Scheduling::Edf) => Err(without_effect(line, EDF_HAS_NONE)),
        (Some(line), Scheduling::FixedPriority) => Err(without_effect(
            line,
            [
                "[cpu] assigns the priorities, so this line has no effect",
                "remove it, or remove `priorities` under [cpu]",
            ],
        )),
    }
}
