// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments of the commands around a running service: `serve`, `ctl` and `top`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use tidegate_engine::control::wire::Verb;
use tidegate_model::quantity::Share;

use super::LogArguments;
use crate::values::quantity;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub(crate) struct ServeArguments {
    /// The serve file (TOML).
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Serve even if some contracts are not proved; every export is then best effort.
    #[arg(long)]
    pub(crate) force: bool,
    /// Plan for a drive that exceeds its tables by this share, for example 10%; overrides the
    /// file's.
    #[arg(long, value_name = "PERCENT", value_parser = quantity::<Share>)]
    pub(crate) margin: Option<Share>,
    /// Check, print where clients connect and the most memory and descriptors that the
    /// server uses, and exit.
    #[arg(long)]
    pub(crate) print: bool,
    /// Print a drop-in for the systemd unit, with the limits computed from the file, and exit.
    #[arg(long, conflicts_with = "print")]
    pub(crate) unit: bool,
    /// With --print: print one JSON object.
    #[arg(long, requires = "print")]
    pub(crate) json: bool,
    /// With --print: print the first line alone.
    #[arg(long, short, requires = "print", conflicts_with = "json")]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) log: LogArguments,
    /// The form of the log, on standard error: lines for people, or one JSON object on each line.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
}

/// The form of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct CtlArguments {
    /// The control socket of a service, or the serve file that names it.
    #[arg(value_name = "SOCKET|FILE")]
    pub(crate) target: PathBuf,
    /// The query or command.
    #[arg(value_name = "VERB", default_value = "status")]
    pub(crate) verb: CtlVerb,
    /// The export. For check and admit: a file with the export's keys as in a serve file, `-` for
    /// standard input, or the name of an export that was added to the serve file.
    #[arg(value_name = "EXPORT|FILE")]
    pub(crate) export: Option<String>,
    /// With `statistics`: also write them with the distribution of each export's response times to
    /// this new file, for `tidegate report`.
    #[arg(long, value_name = "FILE")]
    pub(crate) result: Option<PathBuf>,
    /// Print the service's reply unchanged, one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the first line alone.
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

/// A query or a command to a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CtlVerb {
    /// Show the exports, their bounds and the guarantee: exit code 0 if it holds.
    Status,
    /// Show what was measured so far: responses, misses, the drive.
    Statistics,
    /// Report that the client of EXPORT missed one of its own deadlines.
    Missed,
    /// Report that the stream of EXPORT ended.
    Ended,
    /// Test whether this export would be admitted: exit code 0 if so, 1 if not, with what would
    /// fit.
    Check,
    /// Prove this export together with the others, and offer it until the service ends.
    Admit,
    /// Finish the export's outstanding requests, then remove it.
    Remove,
    /// Finish all outstanding requests, then stop the service.
    Stop,
}

impl From<CtlVerb> for Verb {
    fn from(verb: CtlVerb) -> Self {
        match verb {
            CtlVerb::Status => Self::Status,
            CtlVerb::Statistics => Self::Statistics,
            CtlVerb::Missed => Self::Missed,
            CtlVerb::Ended => Self::Ended,
            CtlVerb::Check => Self::Check,
            CtlVerb::Admit => Self::Admit,
            CtlVerb::Remove => Self::Remove,
            CtlVerb::Stop => Self::Stop,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TopArguments {
    /// The control socket of a service, or the serve file that names it.
    #[arg(value_name = "SOCKET|FILE")]
    pub(crate) target: PathBuf,
}
