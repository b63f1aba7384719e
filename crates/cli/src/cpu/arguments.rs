// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The command line of `tidegate cpu`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tidegate_cpu_live::Background;
use tidegate_cpu_measure::SyntheticLoad;
use tidegate_cpu_model::ServerKind;
use tidegate_model::Duration;

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
    /// Try tasks and aperiodic servers on a simulated processor, in virtual time.
    Sim(CpuSimArguments),
    /// Measure how much time others take from a real-time thread of one processor: demand and load
    /// by interval length, and bounds through them.
    ///
    /// A thread reads the clock as fast as it can and keeps where it lost time. The processor is
    /// busy meanwhile but for a tenth of the time. What ran during the measurement is what the profile is
    /// about: start the traffic first. Ctrl-C ends it with what there is. docs/reference/processor.md says more.
    #[command(
        after_help = "Exit codes: 0 measured, 1 interrupted, or the thief is not covered, 2 wrong input, \
                         3 the environment failed."
    )]
    Profile(CpuProfileArguments),
    /// Keep a running thread within a budget: a real-time priority while it has some left, none
    /// until it is replenished.
    ///
    /// A sporadic server from user space, for a thread of the kernel (threaded NAPI, interrupts) or of a
    /// program. Others lose no more to it than to a periodic task of that size, and one enforcement
    /// delay, which is measured. The thread and the manager, one priority above, stay on one
    /// processor. Ctrl-C, Ctrl-Z, SIGTERM and SIGHUP end it; then the thread is scheduled as before. Needs root.
    #[command(after_help = "Exit codes: 0 served, 2 wrong input, 3 the environment failed.")]
    Serve(CpuServeArguments),
    /// Test an implementation of a sporadic server: ours, or a program that speaks lines of JSON.
    ///
    /// Without a server and without a program all of ours are tested. docs/reference/conformance.md
    /// describes streams, invariants and the protocol.
    #[command(after_help = "Exit codes: 0 it conforms, 1 it does not, 2 wrong input.")]
    Conformance(ConformanceArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CpuCheckArguments {
    /// The workload file (TOML), with `[[cpu_task]]` or `[[cpu_server]]`; `tidegate check` answers for
    /// its disk as well.
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CpuProfileArguments {
    /// The processor; by default the last that this process may use.
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// The SCHED_FIFO priority of the thread, 1 to 98: what is as urgent or less is not measured.
    #[arg(long, value_name = "N", default_value_t = 40,
          value_parser = clap::value_parser!(u8).range(1..=98))]
    pub(crate) priority: u8,
    /// The longest interval. Far longer than the periods of whatever takes the time.
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = quantity::<Duration>)]
    pub(crate) longest: Duration,
    /// How many lengths, evenly up to the longest; all are measured at once.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) lengths: u32,
    /// How many of the longest intervals, end to end; there are more of each shorter one. Without
    /// --duration 200.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// Measure for so long; with --trials as well, until the first of both is reached. With --thief each
    /// of the two measurements.
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) duration: Option<Duration>,
    /// Check the method: measure once as it is, then with a thief of this execution time in this
    /// period, one priority above, for example 2ms/10ms. Theory and the first measurement
    /// together must cover the second, which is the result.
    #[arg(long, value_name = "TIME/TIME", value_parser = thief)]
    pub(crate) thief: Option<SyntheticLoad>,
    /// The machine as it is, measured before, in place of the first of the two measurements: of the
    /// same processor, priority and intervals, and better for long.
    #[arg(long, value_name = "FILE", requires = "thief")]
    pub(crate) baseline: Option<PathBuf>,
    /// What the profile is called; cpu and the processor's number if this is left out.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Fixes the phases, which differ from run to run otherwise.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Where the profile goes, a new file, by custom *.cpu.toml; it is printed if this is left out.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the plots into a new file (SVG).
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CpuServeArguments {
    /// The thread: its name as `ps -eLo comm` shows it, or its number.
    #[arg(long, value_name = "NAME|NUMBER")]
    pub(crate) thread: String,
    /// What it may execute at its priority in each period.
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) budget: Duration,
    /// The period.
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) period: Duration,
    /// Its SCHED_FIFO priority while it has budget, 1 to 98; the manager is one above.
    #[arg(long, value_name = "N", default_value_t = 50,
          value_parser = clap::value_parser!(u8).range(1..=98))]
    pub(crate) priority: u8,
    /// The processor for both; by default the only one that the thread may use, or the last.
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// The rules: sporadic, hybrid-immediate or hybrid-gradual.
    #[arg(long, value_name = "KIND", default_value = "hybrid-gradual", value_parser = server_kind)]
    pub(crate) server: ServerKind,
    /// Its scheduling without budget: `other` shares with ordinary threads, `idle` takes what they leave.
    #[arg(long, value_name = "other|idle", default_value = "other", value_parser = background)]
    pub(crate) background: Background,
    /// Taken from the budget whenever it begins to execute, for what that costs others.
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = quantity::<Duration>)]
    pub(crate) charge: Duration,
    /// End after so long.
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) duration: Option<Duration>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CpuSimArguments {
    /// The workload file (TOML), with `[[cpu_task]]` or `[[cpu_server]]`.
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: PathBuf,
    /// Kinds of server to try one after the other, in place of those that the file names; any
    /// other word lists all.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = server_kind)]
    pub(crate) server: Vec<ServerKind>,
    /// Go on for so long, for example 10s.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = run_length)]
    pub(crate) duration: Duration,
    /// Fixes everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// When less urgent threads block (`blocking` of the file), and thieves steal what its
    /// `[[cpu_interference]]` allows.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Disturb::Critical)]
    pub(crate) disturb: Disturb,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// When what is bounded and not scheduled comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Disturb {
    /// Just before something is released, as much as allowed
    Critical,
    /// At random
    Random,
    /// Never
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct ConformanceArguments {
    /// A server of ours; any other word lists all.
    #[arg(long, value_name = "KIND", value_parser = server_kind)]
    pub(crate) server: Option<ServerKind>,
    /// Random processors beside the streams.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) runs: u32,
    /// The first of them; N of them follow each other.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// End the program when its tests have taken so long.
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = quantity::<Duration>)]
    pub(crate) time_limit: Duration,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Answer questions on standard input with a server of ours: the program's side of the
    /// protocol, to compare with.
    #[arg(long, value_name = "KIND", value_parser = server_kind, exclusive = true)]
    pub(crate) answer: Option<ServerKind>,
    /// The program that has the server, and its arguments.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "server")]
    pub(crate) command: Vec<OsString>,
}

fn thief(text: &str) -> Result<SyntheticLoad, String> {
    let (execution, period) = text.split_once('/').ok_or("write execution/period: 2ms/10ms")?;
    let thief = SyntheticLoad { execution: quantity(execution)?, period: quantity(period)? };
    thief.checked().map_err(|error| error.to_string())
}

/// How long to run: a time, and not none.
fn run_length(text: &str) -> Result<Duration, String> {
    length(text).and_then(|_| span(text))
}

/// What ends long before time does: what is still to come at its end is a time, too.
fn span(text: &str) -> Result<Duration, String> {
    const YEAR: Duration = Duration::from_ms(365 * 24 * 3_600 * 1_000);
    match quantity(text)? {
        span if span <= YEAR * 100 => Ok(span),
        _ => Err("more than 100 years; write a shorter time".to_owned()),
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
