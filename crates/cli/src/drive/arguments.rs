// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments of `tidegate drive`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use tidegate_model::{Bandwidth, Bytes, Duration};

use crate::arguments::form::FormArguments;
use crate::values::{printable, quantity};

#[derive(Debug, Args)]
pub(crate) struct DriveArguments {
    #[command(subcommand)]
    pub(crate) command: DriveCommand,
}

const IMPORT_EXAMPLE: &str = "One file is often enough, because the others are beside it:\n  \
                              tidegate drive import disk.diskspecs -o disk.drive.toml";

#[derive(Debug, Subcommand)]
pub(crate) enum DriveCommand {
    /// List the built-in drives.
    List(ListArguments),
    /// Show a drive: its origin, its mechanics or chips, its tables, with plots of its seek curve
    /// and its zones.
    Show(ShowArguments),
    /// Compare two profiles: of different days, of two disks, measured and simulated.
    ///
    /// The entry of each table that changed most is shown. Entries of the second drive above the
    /// first's longest times are listed separately: there, the first drive file does not bound the
    /// second drive.
    #[command(after_help = "Exit codes: 0 nothing changed, 1 something changed, 2 wrong input.")]
    Compare(CompareArguments),
    /// Make a drive file from the parameter files of DiskSim or DIXtrac.
    ///
    /// Files are recognized by their contents and can be given in any order. A file that another
    /// one names is looked for among the given files, then beside the file that names it; if it is
    /// missing, the only file of its kind is used instead. The command prints the files and values
    /// that it used, left out and did not find.
    #[command(after_help = IMPORT_EXAMPLE)]
    Import(ImportArguments),
    /// Make a drive file from the figures of a hard disk's data sheet, to plan with before the disk
    /// is there.
    ///
    /// The tables are computed by equations 7.4.1.5 to 7.4.1.7 of the dissertation. Data sheets state
    /// typical times, so every proof from this file is weak: measure the disk as soon as you have it.
    #[command(after_help = MAKE_EXAMPLE)]
    Make(MakeArguments),
    /// Replay a trace that was measured on a real drive, one request at a time, and compare
    /// response times.
    ///
    /// Each line of the trace is a request: R or W, a tag that is ignored, its first sector of 512
    /// bytes, the number of sectors, the measured response time and the idle time after it, both in
    /// microseconds. The demerit figure is the root mean square of the distance between the two
    /// distributions: a lower figure means a more accurate drive.
    Replay(ReplayArguments),
    /// Attach a simulated drive to this machine as a block device, in real time (root).
    ///
    /// All I/O on the device passes through the kernel's scheduler to the simulated drive, with as
    /// many requests at once as the drive accepts, and takes as long as the drive takes. The
    /// command runs until Ctrl-C, SIGTERM or `tidegate drive detach`, and then prints statistics:
    /// with --json a second object.
    #[command(after_help = ATTACH_EXAMPLE)]
    Attach(AttachArguments),
    /// Detach attached drives, even after their process was killed; without a name, list them.
    Detach(DetachArguments),
}

const MAKE_EXAMPLE: &str = "For example:\n  \
                            tidegate drive make --seek-track 0.5ms --seek-average 8.5ms \\\n    \
                            --seek-full 18ms --rpm 7200 --rate 110MB/s --depth 32 \\\n    \
                            --size 128KiB,1MiB --name nas-8tb -o nas-8tb.drive.toml";

const ATTACH_EXAMPLE: &str = "To find the device in a script:\n  \
                              tidegate drive attach fujitsu-max3036rc --name hdd --background\n  \
                              tidegate drive detach --json\n  \
                              tidegate drive detach hdd";

#[derive(Debug, Args)]
pub(crate) struct AttachArguments {
    /// A built-in drive or a drive file.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) drive: String,
    /// The size to attach, from the drive's first sector; by default the whole drive.
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>)]
    pub(crate) size: Option<Bytes>,
    /// A file that keeps the data, created if missing; by default the data is in memory and lost at
    /// the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// The name while attached; by default the drive's name.
    #[arg(long, value_name = "NAME", value_parser = plain)]
    pub(crate) name: Option<String>,
    /// Return as soon as the device exists.
    #[arg(long)]
    pub(crate) background: bool,
    /// The log file of the background process, which writes its results there for programs.
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DetachArguments {
    /// The name under which a drive is attached, or its device.
    #[arg(value_name = "NAME|DEVICE", conflicts_with = "all")]
    pub(crate) target: Option<String>,
    /// All attached drives.
    #[arg(long)]
    pub(crate) all: bool,
    /// Detach even if the device is mounted or open: outstanding requests fail, as when a disk is
    /// unplugged.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// Parses a name that can name a folder.
fn plain(name: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
        return Err("write a name of letters, digits, `-`, `_` and `.`".to_owned());
    }
    Ok(name.to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// A built-in drive or a drive file.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) drive: String,
    #[command(flatten)]
    pub(crate) form: FormArguments,
    /// Write the plots to a new file (SVG).
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A built-in drive or a drive file.
    #[arg(value_name = "A")]
    pub(crate) first: String,
    /// The drive or drive file to compare with the first.
    #[arg(value_name = "B")]
    pub(crate) second: String,
    /// Changes up to this size, and changes that chance explains, are ignored.
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent_ppm)]
    pub(crate) tolerance: u32,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// Parses a percentage, for example `5%`, into parts per million.
fn percent_ppm(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<u32>().ok());
    let ppm = number.filter(|&percent| percent <= 1000).map(|percent| percent * 10_000);
    ppm.ok_or_else(|| "write a whole percentage, for example 5%".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Parameter files of one disk (.diskspecs, .model, .layout, .seek, .parv), or folders that
    /// contain them.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The drive file to create.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The drive's name in the drive file; by default the name in the parameter files.
    #[arg(long, value_name = "NAME", value_parser = printable)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct MakeArguments {
    /// The seek to the next track.
    #[arg(long, value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) seek_track: Duration,
    /// The average seek, of reads at random places.
    #[arg(long, value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) seek_average: Duration,
    /// The seek from edge to edge. If the data sheet does not state it, take 2.4 times the average:
    /// the built-in disks have 1.9 to 2.4 times.
    #[arg(long, value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) seek_full: Duration,
    /// How much longer a seek before a write takes: the average of writes less that of reads. Makes
    /// tables of writes.
    #[arg(long, value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) write_seek_extra: Option<Duration>,
    /// Revolutions per minute.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..))]
    pub(crate) rpm: u32,
    /// The lowest sustained rate, on the innermost tracks. Data sheets often state the highest one,
    /// which is about twice as high.
    #[arg(long, value_name = "RATE", value_parser = quantity::<Bandwidth>)]
    pub(crate) rate: Bandwidth,
    /// How long each command takes besides seek, rotation and transfer.
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = quantity::<Duration>)]
    pub(crate) overhead: Duration,
    /// The most requests that the disk accepts at once (K).
    #[arg(long, value_name = "K", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) depth: u32,
    /// The order in which the disk serves a batch.
    #[arg(long, value_enum, default_value_t = OrderArgument::TwoSweeps)]
    pub(crate) order: OrderArgument,
    /// Request sizes, each with a table of its own.
    #[arg(long, value_name = "SIZE,..", value_delimiter = ',', default_value = "128KiB", value_parser = quantity::<Bytes>)]
    pub(crate) size: Vec<Bytes>,
    /// The drive's name in the drive file.
    #[arg(long, value_name = "NAME", value_parser = printable)]
    pub(crate) name: String,
    /// The drive file to create.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// The order in which a disk serves a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArgument {
    /// From the nearest request to one end, and back: most disks (equation 7.4.1.6)
    TwoSweeps,
    /// From the nearer end in one sweep (equation 7.4.1.5)
    OneSweep,
    /// Each request may need a full seek
    Any,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// A built-in drive or a drive file, with mechanics or chips.
    #[arg(value_name = "DRIVE")]
    pub(crate) drive: String,
    /// The measured trace.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: PathBuf,
    /// The trace's format. Requests of all but `measured` are sent when they arrived (open loop),
    /// and nothing is compared.
    #[arg(long, value_enum, default_value_t = Format::Measured)]
    pub(crate) format: Format,
    /// Write one row for each request to a new file (CSV, times in nanoseconds).
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// The seed for everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// The format of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Response times of a real drive, one request at a time (above)
    Measured,
    /// DiskSim ASCII: arrival_ms device sector sectors flags
    Disksim,
    /// MQSim: arrival_ns device sector sectors flag
    Mqsim,
    /// SPC: unit,sector,bytes,R|W,arrival_s
    Spc,
    /// MSR Cambridge: ticks,host,disk,Read|Write,byte,bytes,response
    Msr,
    /// The text of blkparse, its Q lines
    Blkparse,
}
