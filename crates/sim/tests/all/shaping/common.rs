// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers that the tests share: workloads from text, runs on a simulated disk, bandwidth over
//! time, and short constructors of requests and plans.

use tidegate_model::parameters::{
    BestEffortRate, MdnParameters, Parameters, Shaping, TokenBucketParameters, TokenRate, TokenUnit,
};
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{
    BatchTable, Bytes, Class, DriveFile, DriveKind, Duration, Outcome, Plan, Request, RequestId,
    Task, TaskIndex, Time, Workload,
};
use tidegate_sim::{Length, Observer, SimParams, SimRun, simulate};

pub(crate) use crate::builders::{SIZE, any_op, at, load, task};

/// Returns a request that is released at `at`.
pub(crate) fn request(id: u64, task: u32, class: Class, at: Time) -> Request {
    let plain = Request::plain(RequestId(id), class, SIZE);
    Request { task: TaskIndex(task), released: at, eligible: at, ..plain }
}

pub(crate) const fn requests(per_s: u64) -> TokenRate {
    TokenRate { unit: TokenUnit::Request, per_s }
}

pub(crate) const fn bytes(per_s: u64) -> TokenRate {
    TokenRate { unit: TokenUnit::Byte, per_s }
}

/// Gives every shaper this rate.
pub(crate) fn shape(parameters: &mut Parameters, rate: TokenRate, shaping: Shaping) {
    parameters.token_bucket = TokenBucketParameters { rate: BestEffortRate::Fixed(rate), shaping };
    let mdn = MdnParameters { increase: rate, rate_min: rate, shaping, ..MdnParameters::default() };
    (parameters.mdn, parameters.mdn_extended) = (mdn, mdn);
}

/// Returns a soft and a hard task, in this order.
pub(crate) fn soft_and_hard() -> Vec<Task> {
    vec![Task { class: Class::Soft, ..task("soft", 100) }, task("hard", 100)]
}

/// Returns a plan without tasks on a drive that accepts every request.
pub(crate) fn wide_plan() -> Plan {
    let table = BatchTable::new(&[Duration::from_ms(10)]).unwrap();
    Plan { depth: u32::MAX, ..Plan::of(&Workload::new("wide", 1, table)) }
}

/// Returns this plan with every shaper at this rate.
pub(crate) fn shaped(rate: TokenRate, shaping: Shaping) -> Plan {
    let mut plan = wide_plan();
    shape(&mut plan.parameters, rate, shaping);
    plan
}

/// Loads the disk of the paper.
pub(crate) fn disk() -> DriveFile {
    tidegate_drive::builtin::load("seagate-st340810a").expect("Tidegate includes it")
}

/// Returns a workload on this disk, from the text of its file after the line that names the drive.
pub(crate) fn workload(text: &str) -> Workload {
    let file = WorkloadFile::parse(&format!("drive = \"seagate-st340810a\"\n{text}"));
    let file = file.unwrap_or_else(|error| panic!("{error}: {:?}\n{text}", error.help));
    file.bind(&disk()).expect("it fits the disk")
}

/// Runs a workload for `seconds` seconds, under the policy that it names.
pub(crate) fn run(
    workload: &Workload,
    seconds: u64,
    seed: u64,
    observer: &mut impl Observer,
) -> SimRun {
    let length = Length::Duration(Duration::from_ms(seconds * 1_000));
    run_of(&SimParams { seed, ..SimParams::new(workload, length) }, observer)
}

/// Runs a workload on the disk, under the policy that it names.
pub(crate) fn run_of(params: &SimParams, observer: &mut impl Observer) -> SimRun {
    let (file, workload) = (disk(), params.workload);
    let drive =
        tidegate_drive::build(DriveKind::Mechanical, workload, Some(&file), params.seed).unwrap();
    let sectors = file.mechanics.expect("it is mechanical").sectors;
    let params = SimParams { capacity: Bytes::new(sectors * 512), ..*params };
    let plan = Plan::of(workload);
    simulate(
        &params,
        tidegate_policy::build(workload.policy, &plan, None).unwrap(),
        drive,
        observer,
    )
}

/// Completed bytes of each source in each slice of time.
#[derive(Debug)]
pub(crate) struct BandwidthOverTime {
    slice: Duration,
    /// The bytes, indexed by source, then by slice.
    bytes: Vec<Vec<u64>>,
}

impl BandwidthOverTime {
    pub(crate) fn new(sources: usize, slice: Duration) -> Self {
        Self { slice, bytes: vec![Vec::new(); sources] }
    }

    /// Returns kB/s of one source in each slice except the last, which is cut short.
    pub(crate) fn kb_per_s(&self, source: usize) -> Vec<u64> {
        let whole = &self.bytes[source][..self.bytes[source].len() - 1];
        whole.iter().map(|bytes| bytes * 1_000_000 / self.slice.ns()).collect()
    }

    /// Returns the mean kB/s of one source from a slice on.
    pub(crate) fn mean(&self, source: usize, from: usize) -> u64 {
        let rates = self.kb_per_s(source);
        let rates = &rates[from..];
        rates.iter().sum::<u64>() / rates.len() as u64
    }

    /// Prints one line for each slice: time, and kB/s of each source.
    pub(crate) fn print(&self, title: &str) {
        println!("{title}");
        let rates: Vec<Vec<u64>> =
            (0..self.bytes.len()).map(|source| self.kb_per_s(source)).collect();
        let slices = rates.iter().map(Vec::len).min().unwrap_or(0);
        for slice in 0..slices {
            let line: Vec<String> = rates.iter().map(|of| format!("{:6}", of[slice])).collect();
            println!("{:>8} {}", (self.slice * slice as u64).to_string(), line.join(" "));
        }
    }
}

impl Observer for BandwidthOverTime {
    fn completed(&mut self, now: Time, request: &Request, _outcome: Outcome) {
        let slice = usize::try_from(now.ns() / self.slice.ns()).unwrap();
        for bytes in &mut self.bytes {
            if bytes.len() <= slice {
                bytes.resize(slice + 1, 0);
            }
        }
        self.bytes[request.task.index()][slice] += request.size.get();
    }
}
