// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu serve`: runs a sporadic server for an existing thread.

use std::io::{self, Write as _};
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;

use tidegate_cpu_live::{self, ThreadServerError, ThreadServerParams};
use tidegate_cpu_model::ServerParams;
use tidegate_model::Duration;
use tidegate_platform::affinity::Affinity;
use tidegate_platform::{Scheduling, ThreadId, threads};
use tidegate_report::Page;
use tidegate_report::cpu::ServeReport;

use super::arguments::CpuServeArguments;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::interrupt::Patience;
use crate::show;

/// Runs the command.
pub(super) fn serve(arguments: &CpuServeArguments) -> Result<Answer, Failure> {
    let thread = find(&arguments.thread)?;
    let params = params(arguments, thread)?;
    let Patience { is_asked, is_over } = Patience::begin()?;
    // The text describes the thread before any change, and is printed once nothing more can be
    // refused.
    let head = head(&params);
    let (say, granted) = mpsc::channel();
    let begin = move || {
        // The receiver is gone only if the whole program is ending.
        let _ = say.send(());
    };
    // The manager is pinned to a processor and gets a high priority, so it runs in its own thread.
    let manager = thread::Builder::new().name("manager".to_owned());
    let served = manager.spawn(move || {
        let served = tidegate_cpu_live::serve(&params, begin, &is_asked);
        is_over.store(true, Ordering::Relaxed);
        served
    });
    let served = served.map_err(|error| Failure::environment(&error))?;
    if granted.recv().is_ok() {
        // The manager must not print, because it would wait for the reader. While it serves,
        // nothing here may end the program.
        let _ = write!(io::stderr(), "{head}");
    }
    let served = served.join();
    let report =
        served.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(failure)?;
    show::report_in(&ServeReport::of(&params, &report), arguments.form);
    match report.not_put_back {
        None => Ok(Answer::Yes),
        Some(fault) => Err(Failure::environment(&fault)),
    }
}

fn failure(error: ThreadServerError) -> Failure {
    match error {
        ThreadServerError::Params(_)
        | ThreadServerError::Kind { .. }
        | ThreadServerError::Budget { .. }
        | ThreadServerError::Processor { .. }
        | ThreadServerError::Served { .. } => Failure::unusable(&error),
        error => Failure::environment(&error),
    }
}

/// Returns the commands with which a user can restore the thread's current scheduling, only for
/// settings that will be changed.
fn by_hand(params: &ThreadServerParams) -> Option<String> {
    let thread = params.thread;
    let policy = Scheduling::of(thread).ok()?.by_hand(thread)?;
    let processors = Affinity::of(Some(thread)).ok()?;
    if Affinity::only(params.cpu).is_some_and(|only| only == processors) {
        return Some(policy);
    }
    let processors: Vec<String> = processors.cpus().map(|cpu| cpu.to_string()).collect();
    Some(format!("{policy} && taskset -cp {} {thread}", processors.join(",")))
}

fn params(arguments: &CpuServeArguments, thread: ThreadId) -> Result<ThreadServerParams, Failure> {
    let server = ServerParams {
        preemption_charge: arguments.charge,
        ..ServerParams::new(arguments.server, arguments.budget, arguments.period)
    };
    let server = server.checked().map_err(|error| Failure::unusable(&error))?;
    let usable = || Affinity::of(Some(thread)).ok()?.cpus().last();
    Ok(ThreadServerParams {
        thread,
        cpu: arguments.cpu.or_else(usable).unwrap_or(0),
        priority: arguments.priority,
        server,
        background: arguments.background,
        time_limit: arguments.duration,
    })
}

/// Returns the thread with this name or number; refuses a name that several threads have.
fn find(wanted: &str) -> Result<ThreadId, Failure> {
    let number = wanted.parse().ok().and_then(ThreadId::from_raw);
    if let Some(thread) = number {
        let is_there = Scheduling::of(thread).is_ok();
        return is_there.then_some(thread).ok_or_else(|| {
            Failure::input(format!("there is no thread {thread}"), "see `ps -eLo tid,comm`")
        });
    }
    let found = threads::named(wanted).map_err(|error| Failure::environment(&error))?;
    match found[..] {
        [thread] => Ok(thread),
        [] => Err(Failure::input(
            format!("no thread is called {wanted}"),
            "see `ps -eLo tid,comm`; the kernel truncates names to 15 bytes",
        )),
        _ => {
            let numbers: Vec<String> = found.iter().map(ThreadId::to_string).collect();
            Err(Failure::input(
                format!("{} threads are called {wanted}: {}", found.len(), numbers.join(", ")),
                "give the number of one",
            ))
        }
    }
}

/// The smallest budget that loses less than a tenth to the interval between checks, which cannot be
/// shortened.
const SMALL: Duration = Duration::from_us(500);

/// Returns the text that is printed when the server begins.
fn head(params: &ThreadServerParams) -> String {
    let ThreadServerParams { thread, cpu, priority, server, .. } = params;
    let name = thread.name().unwrap_or_default();
    let before = Scheduling::of(*thread).map_or_else(|_| "?".to_owned(), |it| it.to_string());
    let mut page = Page::new(show::look_of_messages());
    page.labelled(
        "Serving",
        format!(
            "thread {thread} ({name}, {before}): {} in each {}, {}, SCHED_FIFO {priority}, \
             processor {cpu}",
            server.budget, server.period, server.kind
        ),
    );
    if server.budget < SMALL {
        let text = "up to 50us of this small budget may be lost each time it is used up";
        page.labelled("Note", text);
    }
    page.labelled(
        "Host",
        "Ctrl-C stops the server and restores the thread; SIGKILL does not restore it",
    );
    if let Some(commands) = by_hand(params) {
        page.command("By hand", &commands);
    }
    page.into_text()
}
