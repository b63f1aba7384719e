// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The command line of `tidegate cpu`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use model::Duration;
use model::cpu::ServerKind;

use crate::arguments::quantity;

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
    /// Test an implementation of a sporadic server: ours, or a program that speaks lines of JSON.
    ///
    /// Without a server and without a program all of ours are tested. docs/sporadic-servers.md
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
pub(crate) struct CpuSimArguments {
    /// The workload file (TOML), with `[[cpu_task]]` or `[[cpu_server]]`.
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: PathBuf,
    /// Kinds of server to try one after the other, in place of those that the file names; any
    /// other word lists all.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = server_kind)]
    pub(crate) server: Vec<ServerKind>,
    /// Go on for so long, for example 10s.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = quantity::<Duration>)]
    pub(crate) duration: Duration,
    /// Fixes everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
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

fn server_kind(name: &str) -> Result<ServerKind, String> {
    ServerKind::from_name(name).ok_or_else(|| {
        let known = ServerKind::ALL.map(ServerKind::name).join(", ");
        format!("there is no server of that kind; write one of {known}")
    })
}
