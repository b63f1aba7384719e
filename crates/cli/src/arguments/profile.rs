// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments of `profile`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use tidegate_measure::{Experiment, Kind, ProfileParams, Selection};
use tidegate_model::{Bytes, DriveKind, Duration, Op};
use tidegate_stats::confidence::{FOUR_SIGMA, samples_needed};

use crate::show::Form;
use crate::values::{OpArgument, experiment, measurable_model, printable, quantity};

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
    /// The most requests at once (K); by default as many as the device accepts, at most 32.
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
    /// Also write the result to this new file, for `tidegate report`; docs/reference/result.md
    /// describes it.
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub(crate) result: Option<PathBuf>,
}

impl ProfileArguments {
    /// Returns the form in which a plan is printed.
    pub(crate) const fn form(&self) -> Form {
        Form { is_json: self.json, is_quiet: self.quiet }
    }

    /// Returns the experiments that the user selected.
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

    /// Returns the parameters of a measurement of these experiments; `defaults` provides all other
    /// parameters.
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

    /// Returns whether the measurement destroys data on the target.
    pub(crate) fn writes(&self) -> bool {
        let destroys_data = self.experiments().into_iter().any(Experiment::destroys_data);
        destroys_data || self.op.contains(&OpArgument::Write)
    }
}

/// The number of samples of each entry.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct SamplesArguments {
    /// Samples per table entry.
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
