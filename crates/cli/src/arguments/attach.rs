// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments of `tidegate attach`, `detach` and `status`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tidegate_mapping::Way;

use super::form::FormArguments;

pub(super) const ATTACH_CODES: &str = "Exit codes: 0 proven (with --apply or --install: attached), 1 not proven or refused, 2 wrong \
                                       input, 3 the environment failed.";

pub(super) const STATUS_CODES: &str = "Exit codes: 0 attached and as it was made, 1 not attached, or something differs, 2 wrong input, \
                                       3 the environment failed.";

#[derive(Debug, Args)]
pub(crate) struct AttachArguments {
    /// The disk: `/dev/sdb`, a partition of it, or a link to it.
    #[arg(value_name = "DEVICE")]
    pub(crate) device: String,
    /// The workload file (TOML).
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: PathBuf,
    /// Take this way instead of the strongest that is possible.
    #[arg(long, value_name = "WAY")]
    pub(crate) via: Option<ViaArgument>,
    /// A drive file of this disk; overrides the workload's drive.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) drive: Option<String>,
    /// The name of the mapping below /dev/mapper [default: tidegate-DEVICE].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Attach the disk if the workload is proven; it stays attached until the next restart.
    #[arg(long)]
    pub(crate) apply: bool,
    /// Attach the disk if the workload is proven, and write files that attach it again at each start.
    #[arg(long, conflicts_with = "apply")]
    pub(crate) install: bool,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// The machine, which tests and rehearsals replace.
#[derive(Debug, Args)]
pub(crate) struct MachineArguments {
    /// The directory with the `sys`, `proc`, `etc` and `var` to use, for example a copy of another
    /// machine's.
    #[arg(long, value_name = "DIRECTORY", default_value = "/")]
    pub(crate) root: PathBuf,
    /// The program that talks to the device mapper; a rehearsal with --root needs one of its own.
    #[arg(long, value_name = "PROGRAM", default_value = "dmsetup")]
    pub(crate) dmsetup: String,
}

#[derive(Debug, Args)]
pub(crate) struct AttachedArguments {
    /// The disk: `/dev/sdb`, a partition of it, or a link to it.
    #[arg(value_name = "DEVICE")]
    pub(crate) device: String,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// A way, as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViaArgument {
    /// The kernel target dm-tidegate.
    Kernel,
    /// A service behind /dev/ublkbN, which Tidegate does not have yet.
    Ublk,
    /// The kernel's own scheduler with the settings of `tidegate tune`.
    Stock,
}

impl From<ViaArgument> for Way {
    fn from(via: ViaArgument) -> Self {
        match via {
            ViaArgument::Kernel => Self::Kernel,
            ViaArgument::Ublk => Self::Ublk,
            ViaArgument::Stock => Self::Stock,
        }
    }
}
