// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments of every command; quantities carry their units, as in files.

mod attach;
mod disk;
pub(crate) mod form;
mod profile;
mod service;
mod watch;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use tidegate_commands::{Changes, DriveChoice, Input};
use tidegate_model::quantity::Share;
use tidegate_model::{BestEffortOrder, DriveKind, Duration, Grade, PolicyName};

use crate::cpu::arguments::CpuArguments;
use crate::drive::arguments::DriveArguments;
use crate::failure::Failure;
use crate::nbd::arguments::NbdArguments;
use crate::python::{PlaceArguments, SweepArguments};
use form::FormArguments;

use crate::values::{grade, length, model, order, policy, quantity};

use attach::{ATTACH_CODES, STATUS_CODES};
pub(crate) use attach::{AttachArguments, AttachedArguments, MachineArguments};
pub(crate) use disk::{ChangeArguments, DiskArguments};
pub(crate) use profile::ProfileArguments;
pub(crate) use service::{CtlArguments, CtlVerb, LogFormat, ServeArguments, TopArguments};
use watch::WATCH_CODES;
pub(crate) use watch::WatchArguments;

/// Response-time guarantees for workloads that share a disk: measure the device, prove the
/// deadlines, keep them.
#[derive(Debug, Parser)]
#[command(name = "tidegate", version = tidegate_commands::BUILD, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 yes (proven, no deadline missed), 1 no (not proven, not \
                          applicable, or deadlines missed), 2 wrong input, 3 the environment failed.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prove offline whether every task meets its deadline on a drive.
    Check(CheckArguments),
    /// Check a certificate of a verdict, without the code that made the verdict.
    #[command(after_help = "Exit codes: 0 accepted, 1 refused, 2 wrong input.")]
    Verify(VerifyArguments),
    /// Try policies side by side on a simulated drive, in virtual time.
    Sim(SimArguments),
    /// Measure how long a device takes for 1, 2, .. K requests, and write a drive file.
    Profile(ProfileArguments),
    /// Choose the kernel's settings under which a disk keeps a workload's deadlines, and make or
    /// undo them.
    #[command(after_help = TUNE_CODES)]
    Tune(TuneArguments),
    /// Prove a workload and put its guarantee in front of a disk, for every program: by the kernel
    /// target, or by the kernel's own scheduler.
    #[command(after_help = ATTACH_CODES)]
    Attach(AttachArguments),
    /// Undo everything that `attach` did to a disk.
    #[command(
        after_help = "Exit codes: 0 detached, or was not attached; 2 wrong input, 3 the environment failed."
    )]
    Detach(AttachedArguments),
    /// Show whether a disk is still attached as recorded, and what its mapping has served.
    #[command(after_help = STATUS_CODES)]
    Status(AttachedArguments),
    /// Show the response times on a disk that the kernel serves, beside a workload's bounds; or
    /// learn a workload from them.
    #[command(after_help = WATCH_CODES)]
    Watch(WatchArguments),
    /// Run the workload against a real device or file, with the policy deciding.
    Run(RunArguments),
    /// Show results as one page, for a browser and for paper.
    Report(ReportArguments),
    /// Reproduce figures and tables of the literature, and compare them with what was published.
    #[command(
        after_help = "Exit codes: 0 every fact agrees or is explained, 1 some fact differs without a \
                            stated reason, or interrupted, 2 wrong input, 3 the environment failed."
    )]
    Reproduce(ReproduceArguments),
    /// Serve a disk as block exports, each with a contract, to programs that know nothing of
    /// Tidegate.
    #[command(
        after_help = "Exit codes: 0 served until stopped, 1 not proven, 2 wrong input, 3 the \
                      environment failed."
    )]
    Serve(ServeArguments),
    /// Query or control a running service through its control socket.
    Ctl(CtlArguments),
    /// Watch a running service live.
    Top(TopArguments),
    /// List, read, write and measure the exports of a running server, ours or another.
    Nbd(NbdArguments),
    /// Show, import and attach simulated drives, and compare them with real ones.
    Drive(DriveArguments),
    /// Check, simulate and profile the processor; test and run aperiodic servers.
    Cpu(CpuArguments),
    /// Simulate every combination of workloads, drives, policies and seeds, on all cores or on a
    /// cluster; runs the Python package.
    #[command(after_help = "Exit codes: 0 written, 2 wrong input.")]
    Sweep(SweepArguments),
    /// Place streams with deadlines on many disks, so that every disk is proved; runs the Python
    /// package.
    #[command(after_help = "Exit codes: 0 placed, 1 the streams do not fit, 2 wrong input.")]
    Place(PlaceArguments),
    /// Write the manual pages and the shell completions below a prefix, for example ~/.local.
    #[command(hide = true)]
    InstallFiles(InstallFilesArguments),
}

const TUNE_CODES: &str = "Exit codes: 0 proven, as tuned, or undone; 1 not proven, refused, not tuned, or a \
                          setting differs; 2 wrong input, 3 the environment failed.";

/// The file that keeps the result.
#[derive(Debug, Args)]
pub(crate) struct ResultArguments {
    /// Also write the result to this new file: the JSON object, every distribution, and the events
    /// of the longest busy interval; docs/reference/result.md describes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) result: Option<PathBuf>,
}

/// The plots on the screen.
#[derive(Debug, Args)]
pub(crate) struct PlotArguments {
    /// Also draw each policy's response times, throughput, misses and tokens over time, and longest
    /// busy interval, below the result.
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    pub(crate) plot: bool,
}

/// The file with a row for each request.
#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    /// Also write a row for each request to this new file (CSV): its source, place, batch and times;
    /// docs/reference/request-log.md describes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// The largest number of rows; the command says how many more there were.
    #[arg(long, value_name = "N", default_value_t = 10_000_000, requires = "log")]
    pub(crate) log_rows: u64,
}

/// The workload file and the options that override it.
#[derive(Debug, Args)]
pub(crate) struct WorkloadArguments {
    /// The workload file (TOML).
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: PathBuf,
    /// A built-in drive or a drive file; overrides the workload's drive.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) drive: Option<String>,
    /// The largest batch size (z), in requests; overrides the workload's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: Option<u32>,
    /// The order in which best effort is served; overrides the workload's.
    #[arg(long, value_name = "ORDER", value_parser = order())]
    pub(crate) order: Option<BestEffortOrder>,
    /// Plan for a drive that exceeds its tables by this share, for example 10%; overrides the
    /// workload's.
    #[arg(long, value_name = "PERCENT", value_parser = quantity::<Share>)]
    pub(crate) margin: Option<Share>,
}

impl WorkloadArguments {
    /// Reads the workload; `asked` contains the policies that the command line names.
    pub(crate) fn read(&self, asked: &[PolicyName]) -> Result<Input, Failure> {
        Ok(tidegate_commands::read(&self.workload, &self.changes(), asked)?)
    }

    /// Returns the values that override the workload's.
    pub(crate) fn changes(&self) -> Changes {
        let drive = self.drive.clone().map(DriveChoice::Named);
        Changes { drive, batch: self.batch, order: self.order, margin: self.margin }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) workload: WorkloadArguments,
    /// The policy to check; overrides the workload's. Any other word lists all policies.
    #[arg(long, value_name = "POLICY", value_parser = policy)]
    pub(crate) policy: Option<PolicyName>,
    /// The weakest grade that counts as proven; docs/reference/premises.md describes grades.
    #[arg(long, value_name = "GRADE", value_parser = grade(), default_value = "weak", hide_default_value = true)]
    pub(crate) require: Grade,
    /// Write the numbers that the verdict follows from to this file, for `tidegate verify`.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// Also show all other bounds, the bounds of other policies, and the steps to each bound: the
    /// batch in flight, the batches between, and the job's own.
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArguments {
    /// The workload file (TOML).
    #[arg(value_name = "WORKLOAD", index = 2, required_unless_present_any = ["undo", "status"])]
    pub(crate) workload: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) change: ChangeArguments,
    /// Restore all values from before the first change, and remove all files that were written.
    #[arg(long, conflicts_with_all = ["workload", "apply", "install"])]
    pub(crate) undo: bool,
    /// Say whether the disk still has the settings that were applied.
    #[arg(long, conflicts_with_all = ["workload", "apply", "install", "undo"])]
    pub(crate) status: bool,
    #[command(flatten)]
    pub(crate) disk: DiskArguments,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The certificate, as `tidegate check --certificate` writes it.
    #[arg(value_name = "FILE")]
    pub(crate) certificate: PathBuf,
    /// The workload file that the certificate must be about.
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<PathBuf>,
    /// The drive file or built-in drive that the certificate must be about.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) drive: Option<String>,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The results, as check, sim and run write them with --result.
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// The page to create (HTML); printed to standard output if left out.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write Markdown, which can be pasted into an issue or a mail, without charts.
    #[arg(long)]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstallFilesArguments {
    /// The folder that has `share/man` and the other folders of an installation.
    #[arg(value_name = "PREFIX")]
    pub(crate) prefix: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArguments {
    /// Studies to reproduce: names that --list shows, or folders with a study.toml.
    #[arg(value_name = "STUDY", required_unless_present_any = ["all", "list"])]
    pub(crate) studies: Vec<String>,
    /// Reproduce every study.
    #[arg(long, conflicts_with = "studies")]
    pub(crate) all: bool,
    /// List the studies and what they reproduce.
    #[arg(long, conflicts_with_all = ["studies", "all", "quick", "out"])]
    pub(crate) list: bool,
    /// Take shorter runs and fewer points.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write results (JSON, CSV) and figures (SVG) into this new folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// The length of a run.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct LengthArguments {
    /// Release jobs for this long, for example 60s.
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) duration: Option<Duration>,
    /// Release this many jobs of each task.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) jobs: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct SimArguments {
    #[command(flatten)]
    pub(crate) workload: WorkloadArguments,
    /// Policies to simulate, one after the other on the same workload, for example noop,fifo,dqf.
    /// Any other word lists all; docs/reference/policies.md describes them.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = policy)]
    pub(crate) policy: Vec<PolicyName>,
    /// The drive model; overrides the one that the drive file implies.
    #[arg(long, value_name = "MODEL", value_parser = model())]
    pub(crate) model: Option<DriveKind>,
    #[command(flatten)]
    pub(crate) length: LengthArguments,
    /// Soft tasks that report a miss after every job, even without a miss: shows that policies
    /// which act on reports (mdn, mdn-extended) do not believe false ones.
    #[arg(long, alias = "cheat", value_name = "TASK,..", value_delimiter = ',')]
    pub(crate) false_reports: Vec<String>,
    /// The seed for everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
    #[command(flatten)]
    pub(crate) log: LogArguments,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) workload: WorkloadArguments,
    /// The block device or file to run against.
    #[arg(long, value_name = "PATH")]
    pub(crate) device: PathBuf,
    /// Policies to run one after the other, for example noop,fifo,dqf. Any other word lists all;
    /// docs/reference/policies.md describes them.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = policy)]
    pub(crate) policy: Vec<PolicyName>,
    #[command(flatten)]
    pub(crate) length: LengthArguments,
    /// Permit the workload's writes: the data on the target is lost.
    #[arg(long)]
    pub(crate) allow_writes: bool,
    /// The seed for the positions of the requests.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
    #[command(flatten)]
    pub(crate) log: LogArguments,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}
