// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The command line of `tidegate drive`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use tidegate_model::Bytes;

use crate::values::{printable, quantity};

#[derive(Debug, Args)]
pub(crate) struct DriveArguments {
    #[command(subcommand)]
    pub(crate) command: DriveCommand,
}

const IMPORT_EXAMPLE: &str = "Often one file is enough, for the others lie beside it:\n  \
                              tidegate drive import disk.diskspecs -o disk.drive.toml";

#[derive(Debug, Subcommand)]
pub(crate) enum DriveCommand {
    /// List the drives that come with Tidegate.
    List(ListArguments),
    /// Show what is known of a drive: where from, its mechanics or chips, its tables, with
    /// plots of its seek curve and its zones.
    Show(ShowArguments),
    /// Compare two profiles: yesterday and today, two disks, measured and simulated.
    ///
    /// Of each table the entry that changed most is shown. What the second holds above the
    /// first's longest times is told apart: the first does not bound the second.
    #[command(after_help = "Exit codes: 0 nothing moved, 1 something did, 2 wrong input.")]
    Compare(CompareArguments),
    /// Make a drive file from the parameter files of DiskSim or DIXtrac.
    ///
    /// Files are told by what stands in them and may be given in any order. A file that
    /// another one names is looked for among those given, then beside the one that names it;
    /// if it is nowhere, the only file of its kind stands in. What was used, what was left
    /// out and what was not found is printed.
    #[command(after_help = IMPORT_EXAMPLE)]
    Import(ImportArguments),
    /// Replay a trace that was measured on a real drive, one request at a time, and compare
    /// response times.
    ///
    /// Each line of the trace is a request: R or W, a tag that says nothing, its first sector
    /// of 512 bytes, how many, the measured response time and the idle time after it, both in
    /// microseconds. The demerit figure is the root mean square of the distance between the
    /// two distributions: the less, the truer the drive.
    Replay(ReplayArguments),
    /// Attach a simulated drive to this machine as a block device, in real time (root).
    ///
    /// Whatever is done with the device goes through the kernel's scheduler to the simulated
    /// drive, as many requests at once as it accepts, and takes the time that the drive takes.
    /// Runs until Ctrl-C, SIGTERM or `tidegate drive detach`, and says then what it saw.
    #[command(after_help = ATTACH_EXAMPLE)]
    Attach(AttachArguments),
    /// Take attached drives away, also after their process was killed; without a name, list them.
    Detach(DetachArguments),
}

const ATTACH_EXAMPLE: &str = "Its device in a script:\n  \
                              tidegate drive attach fujitsu-max3036rc --name hdd --background\n  \
                              tidegate drive detach --json\n  \
                              tidegate drive detach hdd";

#[derive(Debug, Args)]
pub(crate) struct AttachArguments {
    /// A built-in drive or a drive file.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) drive: String,
    /// How much of the drive, from its first sector; otherwise all of it.
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>)]
    pub(crate) size: Option<Bytes>,
    /// A file that keeps the data, made if need be; otherwise they are in memory and gone at the
    /// end.
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// What it is called while it is attached; otherwise as the drive.
    #[arg(long, value_name = "NAME", value_parser = plain)]
    pub(crate) name: Option<String>,
    /// Return as soon as the device is there.
    #[arg(long)]
    pub(crate) background: bool,
    /// Where the one in the background writes.
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) log: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DetachArguments {
    /// The name under which a drive is attached, or its device.
    #[arg(value_name = "NAME|DEVICE", conflicts_with = "all")]
    pub(crate) target: Option<String>,
    /// All that are attached.
    #[arg(long)]
    pub(crate) all: bool,
    /// Also what is mounted or open: what is outstanding fails, as when a disk is pulled out.
    #[arg(long)]
    pub(crate) force: bool,
    /// List them as one JSON object.
    #[arg(long, conflicts_with_all = ["target", "all", "force"])]
    pub(crate) json: bool,
}

/// A name that can be one of a folder.
fn plain(name: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
        return Err("write a name of letters, digits, `-`, `_` and `.`".to_owned());
    }
    Ok(name.to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// A built-in drive or a drive file.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) drive: String,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the plots into a new file (SVG).
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A built-in drive or a drive file.
    #[arg(value_name = "A")]
    pub(crate) first: String,
    /// Another.
    #[arg(value_name = "B")]
    pub(crate) second: String,
    /// What has changed by no more than this, or than chance explains, has not moved.
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent_ppm)]
    pub(crate) tolerance: u32,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `5%` in parts per million.
fn percent_ppm(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<u32>().ok());
    let ppm = number.filter(|&percent| percent <= 1000).map(|percent| percent * 10_000);
    ppm.ok_or_else(|| "write whole per cent, for example 5%".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Parameter files (.diskspecs, .model, .layout, .seek, .parv) or folders with them, of
    /// one disk.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Where the drive file goes, a new file.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// What the drive file calls the drive; otherwise the name in the parameter files.
    #[arg(long, value_name = "NAME", value_parser = printable)]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// A built-in drive or a drive file, with mechanics or chips.
    #[arg(value_name = "DRIVE")]
    pub(crate) drive: String,
    /// The measured trace.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: PathBuf,
    /// Fixes everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
