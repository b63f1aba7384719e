// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments that `tidegate tune`, `attach`, `detach` and `status` share.

use std::path::PathBuf;

use clap::Args;

/// A disk of a machine.
#[derive(Debug, Args)]
pub(crate) struct DiskArguments {
    /// The disk: `/dev/sdb`, a partition of it, or a link to it.
    #[arg(value_name = "DEVICE", index = 1)]
    pub(crate) device: String,
    /// The directory with the `sys`, `proc`, `etc` and `var` to use, for example a copy of another
    /// machine's.
    #[arg(long, value_name = "DIRECTORY", default_value = "/")]
    pub(crate) root: PathBuf,
}

/// The changes to a disk for which a workload is proved.
#[derive(Debug, Args)]
pub(crate) struct ChangeArguments {
    /// A drive file of this disk; overrides the workload's drive.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) drive: Option<String>,
    /// Make the changes if the workload is proven; they last until the next restart.
    #[arg(long)]
    pub(crate) apply: bool,
    /// Make the changes if the workload is proven, and write files that make them again at each
    /// start.
    #[arg(long, conflicts_with = "apply")]
    pub(crate) install: bool,
}

impl ChangeArguments {
    /// Returns whether the command changes anything.
    pub(crate) const fn is_some(&self) -> bool {
        self.apply || self.install
    }
}
