// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments of `tidegate attach`, `detach` and `status`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tidegate_mapping::Way;

use super::disk::{ChangeArguments, DiskArguments};
use super::form::FormArguments;

pub(super) const ATTACH_CODES: &str = "Exit codes: 0 proven (with --apply or --install: attached), 1 not proven or refused, 2 wrong \
                                       input, 3 the environment failed.";

pub(super) const STATUS_CODES: &str = "Exit codes: 0 attached and as it was made, 1 not attached, or something differs, 2 wrong input, \
                                       3 the environment failed.";

#[derive(Debug, Args)]
pub(crate) struct AttachArguments {
    /// The workload file (TOML).
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: PathBuf,
    /// Take this way instead of the strongest that is possible.
    #[arg(long, value_name = "WAY")]
    pub(crate) via: Option<ViaArgument>,
    /// The name of the mapping below /dev/mapper [default: tidegate-DEVICE].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) change: ChangeArguments,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// A disk, and the program that changes its mappings; tests and rehearsals replace both.
#[derive(Debug, Args)]
pub(crate) struct MachineArguments {
    #[command(flatten)]
    pub(crate) disk: DiskArguments,
    /// The program that talks to the device mapper; a rehearsal with --root needs one of its own.
    #[arg(long, value_name = "PROGRAM", default_value = "dmsetup")]
    pub(crate) dmsetup: String,
}

#[derive(Debug, Args)]
pub(crate) struct AttachedArguments {
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
