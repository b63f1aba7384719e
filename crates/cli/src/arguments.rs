// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The command line: quantities carry their units here too.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use tidegate_measure::{Experiment, Kind, ProfileParams};
use tidegate_model::{Bytes, Duration, Op, PolicyName};
use tidegate_stats::confidence::{FOUR_SIGMA, samples_needed};

use crate::cpu::arguments::CpuArguments;
use crate::drive::arguments::DriveArguments;
use crate::values::{
    MeasurableModel, Model, OpArgument, experiment, length, policy, printable, quantity,
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
    /// Try policies side by side on a simulated drive, in virtual time.
    Sim(SimArguments),
    /// Measure how long a device takes for 1, 2, .. K requests, and write a drive file.
    Profile(ProfileArguments),
    /// Run the workload against a real device or file, with the policy deciding.
    Run(RunArguments),
    /// Put a disk behind block exports, each with a contract, for programs that know nothing of it.
    #[command(
        after_help = "Exit codes: 0 served until it was told to stop, 1 not proven, 2 wrong input, 3 the \
                      environment or nbdkit failed."
    )]
    Serve(ServeArguments),
    /// Ask a running service, or tell it something, through its control socket.
    Ctl(CtlArguments),
    /// Watch a running service live.
    Top(TopArguments),
    /// Look at simulated drives, import them, and compare them with real ones.
    Drive(DriveArguments),
    /// The processor: simulate tasks and aperiodic servers, test servers for what they promise.
    Cpu(CpuArguments),
}

/// The workload and what overrides its file.
#[derive(Debug, Args)]
pub(crate) struct WorkloadArguments {
    /// The workload file (TOML).
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: PathBuf,
    /// A built-in drive or a drive file, instead of the one the workload names.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) drive: Option<String>,
    /// The most requests of one batch (z), instead of what the workload says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) workload: WorkloadArguments,
    /// The policy to check, instead of the one the workload names; any other word lists all.
    #[arg(long, value_name = "POLICY", value_parser = policy)]
    pub(crate) policy: Option<PolicyName>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The serve file (TOML).
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Serve also where not every contract is proved: everything as best effort.
    #[arg(long)]
    pub(crate) force: bool,
    /// Check, print the command that would serve, and do nothing.
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CtlArguments {
    /// The control socket of a service, or its serve file, which names it.
    #[arg(value_name = "SOCKET|FILE")]
    pub(crate) target: PathBuf,
    /// What to ask, or to tell.
    #[arg(value_name = "VERB")]
    pub(crate) verb: CtlVerb,
    /// The export that it is about. To check or admit: a file with its keys as in a serve file,
    /// `-` for standard input, or the name of one that was added to the serve file.
    #[arg(value_name = "EXPORT|FILE")]
    pub(crate) export: Option<String>,
    /// Print the answer as it came, one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a service is asked or told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CtlVerb {
    /// What is offered, what was proved, and whether it still stands: exit code 0 if it does.
    Status,
    /// What was seen so far: responses, misses, the drive.
    Statistics,
    /// The tenant of EXPORT missed a deadline of its own.
    Missed,
    /// The stream of EXPORT came to its end.
    Ended,
    /// Would this export be admitted? Exit code 0 if so, 1 if not, with what would be.
    Check,
    /// Prove this export beside the others, and offer it until the service ends.
    Admit,
    /// Answer what EXPORT was asked, then offer it no more.
    Remove,
    /// Answer what is outstanding, then end.
    Stop,
}

#[derive(Debug, Args)]
pub(crate) struct TopArguments {
    /// The control socket of a service, or its serve file, which names it.
    #[arg(value_name = "SOCKET|FILE")]
    pub(crate) target: PathBuf,
}

/// How long to go on.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct LengthArguments {
    /// Release jobs for so long, for example 60s.
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) duration: Option<Duration>,
    /// Release so many jobs of each task.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) jobs: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct SimArguments {
    #[command(flatten)]
    pub(crate) workload: WorkloadArguments,
    /// Policies to try, one after the other on the same workload, for example noop,fifo,dqf; any
    /// other word lists all, and docs/reference/policies.md says what they do.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = policy)]
    pub(crate) policy: Vec<PolicyName>,
    /// The simulated drive, instead of the drive file's own kind.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<Model>,
    #[command(flatten)]
    pub(crate) length: LengthArguments,
    /// Soft tasks that report a miss after every job, late or not: to see that a policy which
    /// hears reports (mdn, mdn-extended) does not believe them.
    #[arg(long, value_name = "TASK,..", value_delimiter = ',')]
    pub(crate) cheat: Vec<String>,
    /// Fixes everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub(crate) struct ProfileArguments {
    /// A block device, a file on the device, or a simulated drive.
    #[arg(value_name = "DEVICE|FILE|DRIVE")]
    pub(crate) target: PathBuf,
    /// Say what would be measured and how long that takes, and measure nothing.
    #[arg(long)]
    pub(crate) plan: bool,
    /// Where the drive file goes, a new file; it is printed if this is left out.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Add the tables to the drive file that exists at --output, for example writes to reads; of
    /// tables of the same requests the longest times of both stay.
    #[arg(long, requires = "output")]
    pub(crate) add: bool,
    /// Go on with a measurement that was interrupted: its samples lie beside --output.
    #[arg(long, requires = "output")]
    pub(crate) resume: bool,
    /// Keep every sample beside --output (JSON lines), also when all is measured.
    #[arg(long, requires = "output")]
    pub(crate) keep_samples: bool,
    /// Measure only some of what there is; everything that applies if this is left out.
    ///
    /// batch: so many requests at once, until the last is complete; every guarantee needs it.
    /// single: one request alone, and the places where it takes long.
    /// drain: from the end of a flow of requests until the device is empty; policies that stop
    /// best effort need it; it takes about ten times as long as batch.
    /// throughput: what flows of requests move, by depth and place.
    /// rotation, overhead, zones, seek-curve: what a disk that turns is made of, from the angle
    /// at which each read comes back; at most 60,000 reads, one at a time.
    /// stripe: how a device that does not turn spreads data over chips, and, where writes are
    /// measured, how long a read takes beside them.
    /// starvation: how long others can hold up one request; seconds for each sample.
    /// mixed: batches of several kinds of requests, where several are asked for.
    /// priority: requests of the drive's own priority; simulated drives only.
    /// flush: how long a flush takes when the device's cache is full of writes of each --size;
    /// it writes, whatever --op says, and so needs --allow-writes.
    /// drain-adversary: drains with requests far apart; raise the drains of the file; about twenty
    /// times as long as batch.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = experiment, verbatim_doc_comment)]
    pub(crate) only: Vec<Experiment>,
    #[command(flatten)]
    pub(crate) samples: SamplesArguments,
    /// Stop after this time with what was measured until then, for example 10min.
    #[arg(long, value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) time_limit: Option<Duration>,
    /// Sizes of requests, each measured by itself.
    #[arg(long, value_name = "SIZE,..", value_delimiter = ',', default_value = "128KiB", value_parser = quantity::<Bytes>)]
    pub(crate) size: Vec<Bytes>,
    /// The most requests at once (K); otherwise what the device accepts, at most 32.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) depth: Option<u32>,
    /// Reads, writes or both, each measured by itself.
    #[arg(long, value_name = "OP,..", value_delimiter = ',', default_value = "read")]
    pub(crate) op: Vec<OpArgument>,
    /// A simulated drive as this, instead of from its parts: pseudo, from its own batches.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<MeasurableModel>,
    /// Permit writing: the data on the target is lost. Then `flush` is measured as well.
    #[arg(long)]
    pub(crate) allow_writes: bool,
    /// First create the target as a new file of this size, filled with random data; it is
    /// removed again if nothing is measured.
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>)]
    pub(crate) create: Option<Bytes>,
    /// What the drive file calls the drive; otherwise the model of the device.
    #[arg(long, value_name = "NAME", value_parser = printable)]
    pub(crate) name: Option<String>,
    /// Fixes the places and the order of the batches; otherwise new each time, and printed.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print one JSON object instead of tables, or of the drive file; also of --plan.
    #[arg(long)]
    pub(crate) json: bool,
}

impl ProfileArguments {
    /// What is measured.
    pub(crate) fn experiments(&self) -> Vec<Experiment> {
        let may_write = self.allow_writes || self.op.contains(&OpArgument::Write);
        let is_left_out = |it: &Experiment| match *it {
            Experiment::DRAIN_ADVERSARY => self.samples.quick,
            Experiment::FLUSH => !may_write,
            _ => false,
        };
        match &self.only[..] {
            [] => Experiment::ALL.into_iter().filter(|it| !is_left_out(it)).collect(),
            only => only.to_vec(),
        }
    }

    /// The requests it is measured with.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let ops: Vec<Op> = self.op.iter().copied().map(Op::from).collect();
        Kind::all(&ops, &self.size)
    }

    /// Whether data on the target is lost.
    pub(crate) fn writes(&self) -> bool {
        self.op.contains(&OpArgument::Write) || self.experiments().contains(&Experiment::FLUSH)
    }
}

/// How often each entry is measured.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct SamplesArguments {
    /// Samples of each entry.
    #[arg(long, value_name = "N", default_value_t = ProfileParams::SAMPLES, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// 100 samples, without drain-adversary: enough to look at a device, not to rely on it.
    #[arg(long)]
    quick: bool,
    /// As many samples as it takes to see, with this confidence, a time beyond four standard
    /// deviations on either side of a normal distribution: 72704 for 99% (above them: 145404).
    #[arg(long, value_name = "PERCENT", value_parser = confidence)]
    confidence: Option<f64>,
}

impl SamplesArguments {
    /// The number that was asked for.
    pub(crate) fn count(&self) -> u32 {
        let sure = self.confidence.map(|confidence| samples_needed(confidence, FOUR_SIGMA));
        match (sure, self.quick) {
            (Some(samples), _) => u32::try_from(samples).unwrap_or(u32::MAX),
            (None, true) => QUICK_SAMPLES,
            (None, false) => self.samples,
        }
    }
}

/// `--quick`.
const QUICK_SAMPLES: u32 = 100;

/// `99%`, `99.9%`: a share of one.
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
    /// Policies to run one after the other, for example noop,fifo,dqf; any other word lists all,
    /// and docs/reference/policies.md says what they do.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = policy)]
    pub(crate) policy: Vec<PolicyName>,
    #[command(flatten)]
    pub(crate) length: LengthArguments,
    /// Permit the workload's writes: the data on the target is lost.
    #[arg(long)]
    pub(crate) allow_writes: bool,
    /// Fixes the places of the requests.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
