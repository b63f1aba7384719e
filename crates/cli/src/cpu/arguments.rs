// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments of `tidegate cpu`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tidegate_cpu_live::Background;
use tidegate_cpu_measure::SyntheticLoad;
use tidegate_cpu_model::ServerKind;
use tidegate_model::Duration;

use crate::arguments::form::FormArguments;
use crate::values::{length, quantity};

#[derive(Debug, Args)]
pub(crate) struct CpuArguments {
    #[command(subcommand)]
    pub(crate) command: CpuCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CpuCommand {
    /// Prove offline whether every task meets its deadline on the processor.
    Check(CpuCheckArguments),
    /// Simulate tasks and aperiodic servers on a processor, in virtual time.
    Sim(CpuSimArguments),
    /// Measure how much processor time other threads take from a real-time thread: demand and load
    /// by interval length, with bounds.
    ///
    /// A thread reads the clock as fast as it can and records the gaps. It keeps the processor busy
    /// except for a tenth of the time. The profile describes what ran during the measurement: start
    /// the traffic first. Ctrl-C stops the measurement and keeps partial results.
    /// docs/reference/processor.md says more.
    #[command(after_help = "Exit codes: 0 measured, 1 interrupted, or the synthetic load is not \
                      covered, 2 wrong input, 3 the environment failed.")]
    Profile(CpuProfileArguments),
    /// Keep a running thread within a budget: it runs at real-time priority while it has budget,
    /// and without priority until the budget is replenished.
    ///
    /// A sporadic server in user space, for a thread of the kernel (threaded NAPI, interrupts) or
    /// of a program. Other threads lose at most what a periodic task of that size would take, plus
    /// one enforcement delay, which is measured. The thread and the manager, one priority above,
    /// stay on one processor. Ctrl-C, Ctrl-Z, SIGTERM and SIGHUP stop the server; the thread's
    /// scheduling is then restored. Needs root.
    #[command(after_help = "Exit codes: 0 served, 2 wrong input, 3 the environment failed.")]
    Serve(CpuServeArguments),
    /// Test an implementation of a sporadic server: a built-in one, or a program that speaks lines
    /// of JSON.
    ///
    /// Without a server and without a program, all built-in servers are tested.
    /// docs/reference/conformance.md describes streams, invariants and the protocol.
    #[command(after_help = "Exit codes: 0 it conforms, 1 it does not, 2 wrong input.")]
    Conformance(ConformanceArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CpuCheckArguments {
    /// The workload file (TOML), with `[[cpu_task]]` or `[[cpu_server]]`; `tidegate check` also
    /// checks its disk.
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: PathBuf,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct CpuProfileArguments {
    /// The processor; by default the last one that this process may use.
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// The SCHED_FIFO priority of the measuring thread, 1 to 98: threads of the same or lower
    /// priority are not measured.
    #[arg(long, value_name = "N", default_value_t = 40,
          value_parser = clap::value_parser!(u8).range(1..=98))]
    pub(crate) priority: u8,
    /// The longest interval; choose it much longer than the periods of the threads that take time.
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = quantity::<Duration>)]
    pub(crate) longest: Duration,
    /// The number of interval lengths, evenly spaced up to the longest; all are measured at once.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) lengths: u32,
    /// The number of longest intervals, end to end; shorter lengths get more intervals. Without
    /// --duration the default is 200.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// Measure for this long; with --trials as well, until either limit is reached. With --thief,
    /// each of the two measurements takes this long.
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) duration: Option<Duration>,
    /// Check the method: measure once without and once with a synthetic load of this execution time
    /// in this period, one priority above, for example 2ms/10ms. Theory and the first measurement
    /// together must cover the second, which is the result.
    #[arg(long, value_name = "TIME/TIME", value_parser = thief)]
    pub(crate) thief: Option<SyntheticLoad>,
    /// An earlier profile of the machine without the load, used instead of the first of the two
    /// measurements. It must have the same processor, priority and intervals; a long measurement is
    /// better.
    #[arg(long, value_name = "FILE", requires = "thief")]
    pub(crate) baseline: Option<PathBuf>,
    /// The profile's name; by default cpu and the processor's number.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The seed for the phases; by default random.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The profile to create, by convention *.cpu.toml; printed to standard output if left out.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the plots to a new file (SVG).
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct CpuServeArguments {
    /// The thread: its name as `ps -eLo comm` shows it, or its number.
    #[arg(long, value_name = "NAME|NUMBER")]
    pub(crate) thread: String,
    /// The thread's execution time at its priority in each period.
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) budget: Duration,
    /// The period.
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) period: Duration,
    /// The thread's SCHED_FIFO priority while it has budget, 1 to 98; the manager is one above.
    #[arg(long, value_name = "N", default_value_t = 50,
          value_parser = clap::value_parser!(u8).range(1..=98))]
    pub(crate) priority: u8,
    /// The processor for both; by default the only one that the thread may use, or the last.
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// The rules: sporadic, hybrid-immediate, hybrid-gradual or polling.
    #[arg(long, value_name = "KIND", default_value = "hybrid-gradual", value_parser = server_kind)]
    pub(crate) server: ServerKind,
    /// The thread's scheduling without budget: `other` shares with ordinary threads, `idle` takes
    /// what they leave.
    #[arg(long, value_name = "other|idle", default_value = "other", value_parser = background)]
    pub(crate) background: Background,
    /// Time charged to the budget whenever the thread begins to execute, for the cost to other
    /// threads.
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = quantity::<Duration>)]
    pub(crate) charge: Duration,
    /// Stop after this time.
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) duration: Option<Duration>,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct CpuSimArguments {
    /// The workload file (TOML), with `[[cpu_task]]` or `[[cpu_server]]`.
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: PathBuf,
    /// Kinds of server to simulate one after the other; override those in the file. Any other word
    /// lists all.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = server_kind)]
    pub(crate) server: Vec<ServerKind>,
    /// Simulate this long, for example 10s.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = run_length)]
    pub(crate) duration: Duration,
    /// The seed for everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// When threads of lower priority block (`blocking` in the file), and when interference takes
    /// the time that `[[cpu_interference]]` allows.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Disturb::Critical)]
    pub(crate) disturb: Disturb,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// When blocking and interference, which are bounded but not scheduled, occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Disturb {
    /// Just before a release, as much as allowed
    Critical,
    /// At random
    Random,
    /// Never
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct ConformanceArguments {
    /// A built-in server; any other word lists all.
    #[arg(long, value_name = "KIND", value_parser = server_kind)]
    pub(crate) server: Option<ServerKind>,
    /// The number of random processors tested in addition to the streams.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) runs: u32,
    /// The first seed; N consecutive seeds are used.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Kill the program when its tests have taken this long.
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = quantity::<Duration>)]
    pub(crate) time_limit: Duration,
    /// Write every question to the program (>) and every answer (<) to a new file.
    #[arg(long, value_name = "FILE", requires = "command")]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: FormArguments,
    /// Answer questions on standard input with a built-in server: the program's side of the
    /// protocol, for comparison.
    #[arg(long, value_name = "KIND", value_parser = server_kind, exclusive = true)]
    pub(crate) answer: Option<ServerKind>,
    /// The program that implements the server, and its arguments.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "server")]
    pub(crate) command: Vec<OsString>,
}

fn thief(text: &str) -> Result<SyntheticLoad, String> {
    let (execution, period) = text.split_once('/').ok_or("write execution/period: 2ms/10ms")?;
    let thief = SyntheticLoad { execution: quantity(execution)?, period: quantity(period)? };
    thief.checked().map_err(|error| error.to_string())
}

/// Parses a run length, which must not be zero.
fn run_length(text: &str) -> Result<Duration, String> {
    length(text).and_then(|_| span(text))
}

/// Parses a time of at most 100 years, so that times computed from it are in range.
fn span(text: &str) -> Result<Duration, String> {
    const YEAR: Duration = Duration::from_ms(365 * 24 * 3_600 * 1_000);
    match quantity(text)? {
        span if span <= YEAR * 100 => Ok(span),
        _ => Err("longer than 100 years; write a shorter time".to_owned()),
    }
}

fn background(text: &str) -> Result<Background, String> {
    match text {
        "other" => Ok(Background::Other),
        "idle" => Ok(Background::Idle),
        _ => Err("write other or idle".to_owned()),
    }
}

fn server_kind(name: &str) -> Result<ServerKind, String> {
    ServerKind::from_name(name).ok_or_else(|| {
        let known = ServerKind::ALL.map(ServerKind::name).join(", ");
        format!("there is no server of that kind; write one of {known}")
    })
}
