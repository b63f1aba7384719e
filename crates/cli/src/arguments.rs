// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments of every command; quantities carry their units, as in files.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use tidegate_commands::{Changes, DriveChoice, Input};
use tidegate_engine::control::wire::Verb;
use tidegate_measure::{Experiment, Kind, ProfileParams, Selection};
use tidegate_model::quantity::Share;
use tidegate_model::{BestEffortOrder, Bytes, DriveKind, Duration, Grade, Op, PolicyName};
use tidegate_stats::confidence::{FOUR_SIGMA, samples_needed};

use crate::cpu::arguments::CpuArguments;
use crate::drive::arguments::DriveArguments;
use crate::failure::Failure;
use crate::nbd::arguments::NbdArguments;
use crate::python::{PlaceArguments, SweepArguments};
use crate::show::Form;
use crate::values::{
    OpArgument, experiment, grade, length, measurable_model, model, order, policy, printable,
    quantity,
};

/// Response-time guarantees for workloads that share a disk: measure the device, prove the
/// deadlines, keep them.
#[derive(Debug, Parser)]
#[command(name = "tidegate", version, max_term_width = 100, after_help = EXIT_CODES)]
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
}

const TUNE_CODES: &str = "Exit codes: 0 proven, as tuned, or undone; 1 not proven, refused, not tuned, or a \
                          setting differs; 2 wrong input, 3 the environment failed.";

/// How much of the result is printed, and in which form.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormArguments {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the first line alone.
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

impl FormArguments {
    /// Returns whether the whole text is printed.
    pub(crate) const fn is_full(self) -> bool {
        !self.json && !self.quiet
    }
}

impl From<FormArguments> for Form {
    fn from(arguments: FormArguments) -> Self {
        Self { is_json: arguments.json, is_quiet: arguments.quiet }
    }
}

/// The file that keeps the result.
#[derive(Debug, Args)]
pub(crate) struct ResultArguments {
    /// Also write the result to this new file: the JSON object, every distribution, and the events
    /// of the longest busy interval; docs/reference/result.md describes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) result: Option<PathBuf>,
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
    /// Reads the workload; `asked` holds the policies that the command line names.
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
#[expect(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub(crate) struct TuneArguments {
    /// The disk: `/dev/sdb`, a partition of it, or a link to it.
    #[arg(value_name = "DEVICE")]
    pub(crate) device: String,
    /// The workload file (TOML).
    #[arg(value_name = "WORKLOAD", required_unless_present_any = ["undo", "status"])]
    pub(crate) workload: Option<PathBuf>,
    /// A drive file of this disk; overrides the workload's drive.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) drive: Option<String>,
    /// Make the settings if the workload is proven; they last until the next restart.
    #[arg(long)]
    pub(crate) apply: bool,
    /// Make the settings if the workload is proven, and write a udev rule and drop-ins for the
    /// workload's units that make them again.
    #[arg(long, conflicts_with = "apply")]
    pub(crate) install: bool,
    /// Restore all values from before the first change, and remove all files that were written.
    #[arg(long, conflicts_with_all = ["workload", "apply", "install"])]
    pub(crate) undo: bool,
    /// Say whether the disk still has the settings that were made.
    #[arg(long, conflicts_with_all = ["workload", "apply", "install", "undo"])]
    pub(crate) status: bool,
    /// The directory with the `sys`, `etc` and `var` to use, for example a copy of another machine's.
    #[arg(long, value_name = "DIRECTORY", default_value = "/")]
    pub(crate) root: PathBuf,
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
    /// Check, print where clients connect and what the server can take at most, and exit.
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
    /// Show the exports, their bounds and the guarantee: exit code 0 if it stands.
    Status,
    /// Show what was measured so far: responses, misses, the drive.
    Statistics,
    /// Report that the tenant of EXPORT missed one of its own deadlines.
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
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("away_from_output").args(["output", "plan"]).multiple(true))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub(crate) struct ProfileArguments {
    /// A block device, a file on the device, or a simulated drive.
    #[arg(value_name = "DEVICE|FILE|DRIVE")]
    pub(crate) target: PathBuf,
    /// Print what would be measured and how long that takes; measure nothing.
    #[arg(long)]
    pub(crate) plan: bool,
    /// The drive file to create; printed to standard output if left out.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Add the tables to the existing drive file at --output, for example writes to reads. Where
    /// both have a table for the same requests, the longer time of each entry is kept.
    #[arg(long, requires = "output")]
    pub(crate) add: bool,
    /// Resume an interrupted measurement from its samples beside --output.
    #[arg(long, requires = "output")]
    pub(crate) resume: bool,
    /// Keep every sample beside --output (JSON lines), even after a complete measurement.
    #[arg(long, requires = "output")]
    pub(crate) keep_samples: bool,
    /// Run only these experiments; all that apply if left out.
    ///
    /// batch: 1, 2, .. K requests at once, until the last is complete; every guarantee needs it.
    /// places: batches at both ends, in clusters, on one track, in sequence and at the worst places
    /// that a search finds; they raise the batch table; at most as long as batch.
    /// drain-places, starvation-places, mixed-places, priority-places: the same for these tables.
    /// batch, drain, starvation, mixed and priority include their places.
    /// single: one request alone, and the positions where it takes long.
    /// drain: from the end of a flow of requests until the device is empty; policies that stop
    /// best effort need it; it takes about ten times as long as batch.
    /// throughput: the rate of flows of requests, by depth and position.
    /// elevator: the rate of requests that the host sends by rising position, by depth.
    /// rotation, overhead, zones, seek-curve: the parts of a rotating disk, from the angle at
    /// which each read completes; at most 60,000 reads, one at a time.
    /// stripe: how a device that does not rotate spreads data over chips and, if writes are
    /// measured, how long a read takes beside them.
    /// starvation: how long other requests can delay one request; seconds for each sample.
    /// mixed: batches of several kinds of requests, if several kinds are measured.
    /// priority: requests of the drive's own priority; simulated drives only.
    /// flush: how long a flush takes when the device's cache is full of writes of each --size;
    /// it writes, whatever --op says, and therefore needs --allow-writes.
    /// drain-adversary: drains with requests far apart; can raise the drain times in the file;
    /// takes about twenty times as long as batch.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = experiment, verbatim_doc_comment)]
    pub(crate) only: Vec<Experiment>,
    #[command(flatten)]
    pub(crate) samples: SamplesArguments,
    /// Stop after this time, for example 10min; results so far are written.
    #[arg(long, value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) time_limit: Option<Duration>,
    /// Request sizes, each measured separately.
    #[arg(long, value_name = "SIZE,..", value_delimiter = ',', default_value = "128KiB", value_parser = quantity::<Bytes>)]
    pub(crate) size: Vec<Bytes>,
    /// The most requests at once (K); by default what the device accepts, at most 32.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) depth: Option<u32>,
    /// Reads, writes or both, each measured separately.
    #[arg(long, value_name = "OP,..", value_delimiter = ',', default_value = "read")]
    pub(crate) op: Vec<OpArgument>,
    /// The drive model; overrides the drive's own parts. pseudo takes its times from the drive's
    /// batch tables.
    #[arg(long, value_name = "MODEL", value_parser = measurable_model())]
    pub(crate) model: Option<DriveKind>,
    /// Permit writing: the data on the target is lost. `flush` is then measured as well.
    #[arg(long)]
    pub(crate) allow_writes: bool,
    /// First create the target as a new file of this size, filled with random data; it is removed
    /// again if nothing is measured.
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>)]
    pub(crate) create: Option<Bytes>,
    /// The drive's name in the drive file; by default the device's model.
    #[arg(long, value_name = "NAME", value_parser = printable)]
    pub(crate) name: Option<String>,
    /// The seed for the positions and the order of the batches; by default random, and printed.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print one JSON object instead of tables or the drive file; also with --plan.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only whether the drive file can be used; with --plan, only how long it would take.
    #[arg(long, short, conflicts_with = "json", requires = "away_from_output")]
    pub(crate) quiet: bool,
}

impl ProfileArguments {
    /// Returns the form of a plan.
    pub(crate) const fn form(&self) -> Form {
        Form { is_json: self.json, is_quiet: self.quiet }
    }

    /// Returns the experiments that the user wants.
    pub(crate) fn selection(&self) -> Selection<'_> {
        Selection { only: &self.only, is_quick: self.samples.quick }
    }

    /// Returns the experiments to run on a device.
    pub(crate) fn experiments(&self) -> Vec<Experiment> {
        self.selection().on_device(self.allow_writes || self.op.contains(&OpArgument::Write))
    }

    /// Returns the kinds of requests to measure.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let ops: Vec<Op> = self.op.iter().copied().map(Op::from).collect();
        Kind::all(&ops, &self.size)
    }

    /// Returns the parameters of a measurement of these experiments; `defaults` has the rest.
    pub(crate) fn params(
        &self,
        defaults: ProfileParams,
        experiments: Vec<Experiment>,
    ) -> ProfileParams {
        ProfileParams {
            experiments,
            kinds: self.kinds(),
            depth: self.depth.unwrap_or(defaults.depth),
            samples: self.samples.count(),
            is_quick: self.samples.quick,
            ..defaults
        }
    }

    /// Returns whether data on the target is lost.
    pub(crate) fn writes(&self) -> bool {
        let destroys_data = self.experiments().into_iter().any(Experiment::destroys_data);
        destroys_data || self.op.contains(&OpArgument::Write)
    }
}

/// The number of samples of each entry.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct SamplesArguments {
    /// Samples of each entry.
    #[arg(long, value_name = "N", default_value_t = ProfileParams::SAMPLES, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// 100 samples, without elevator, drain-adversary and the places of drains, starvation and mixed
    /// batches: enough for a first look, not for a guarantee.
    #[arg(long)]
    pub(crate) quick: bool,
    /// As many samples as it takes to observe, with this confidence, a time beyond four standard
    /// deviations on either side of a normal distribution: 72704 for 99% (above them: 145404).
    #[arg(long, value_name = "PERCENT", value_parser = confidence)]
    confidence: Option<f64>,
}

impl SamplesArguments {
    /// Returns the requested number of samples.
    pub(crate) fn count(&self) -> u32 {
        let sure = self.confidence.map(|confidence| samples_needed(confidence, FOUR_SIGMA));
        match (sure, self.quick) {
            (Some(samples), _) => u32::try_from(samples).unwrap_or(u32::MAX),
            (None, true) => ProfileParams::SAMPLES_QUICK,
            (None, false) => self.samples,
        }
    }
}

/// Parses a percentage, for example `99%` or `99.9%`, into a fraction of one.
fn confidence(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    percent
        .filter(|percent| (1.0..=99.9999).contains(percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "write a percentage from 1% to 99.9999%, for example 99%".to_owned())
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
    pub(crate) form: FormArguments,
}
