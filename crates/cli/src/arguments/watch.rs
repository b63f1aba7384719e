// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments of `tidegate watch`.

use std::path::PathBuf;

use clap::Args;
use tidegate_model::Duration;

use super::LogArguments;
use super::form::FormArguments;
use crate::values::length;

pub(crate) const WATCH_CODES: &str = "Exit codes: 0 every bound held, or there was none to compare; 1 a bound was \
     exceeded, or nothing could be compared or learnt; 2 wrong input, 3 the environment failed.";

#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// The disk: `/dev/sdb`, a partition of it, or a link to it.
    #[arg(value_name = "DEVICE")]
    pub(crate) device: String,
    /// A workload file (TOML): compare the requests of its units with its bounds.
    #[arg(value_name = "WORKLOAD", conflicts_with = "learn")]
    pub(crate) workload: Option<PathBuf>,
    /// A drive file of this disk; overrides the workload's drive. With --learn, the drive that the
    /// new file names.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) drive: Option<String>,
    /// End after this time, for example 60s; without it, Ctrl-C or q ends the watch.
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) duration: Option<Duration>,
    /// Write a workload file that describes what was seen.
    #[arg(long, requires = "output")]
    pub(crate) learn: bool,
    /// The workload file to create with --learn; existing files are never overwritten.
    #[arg(short, long, value_name = "FILE", requires = "learn")]
    pub(crate) output: Option<PathBuf>,
    /// Also write metrics to this file each second, for the textfile collector of node_exporter: a
    /// name that ends in .prom, in the collector's directory. Only a file of an earlier watch is
    /// replaced.
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,
    /// Also draw the response times of each entry and program, below the tables.
    #[arg(long, conflicts_with_all = ["json", "quiet", "learn"])]
    pub(crate) plot: bool,
    /// Also write the result with every distribution to this new file, for `tidegate report`.
    #[arg(long, value_name = "FILE", conflicts_with = "learn")]
    pub(crate) result: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) log: LogArguments,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}
