// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks the mechanics that were found against the measured tables: if the simulated disk does not
//! take as long as the real one, one of its figures is wrong.

use std::fmt;
use std::sync::atomic::AtomicBool;

use tidegate_device::DeviceFacts;
use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::drive_file::{FlowPlace, MeasuredTable, Throughput};
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{Bytes, DriveFile, Duration, Lba, Op};

use super::number::whole;
use super::queue::{MEDIAN_PPM, batches};
use crate::experiment::Experiment;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::profile::profile_drive;

/// The largest accepted difference between a simulated median and the measured one, in per cent of
/// the latter. The median of 300 batches is within about 4 % of the true one.
const TIMES_PERCENT_MAX: u64 = 10;
/// The smallest difference of times that counts: half the resolution of most hosts' timers.
const APART_MIN: Duration = Duration::from_us(50);
/// The largest accepted difference of rates, in per cent. A stretch of 32 random reads varies by
/// about 8 %.
const RATES_PERCENT_MAX: u64 = 15;
/// The smallest number of measured stretches with which rates are compared.
const STRETCHES_MIN: u64 = 10;
/// The number of samples for the simulated rates, which gives 40 stretches.
const SAMPLES: u32 = 2_000;

/// A figure of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckedFigure {
    /// The median time of a batch, in ns.
    Batch {
        /// The number of requests.
        requests: usize,
    },
    /// The median rate of a flow, in bytes per second.
    Rate {
        /// The places of the flow.
        place: FlowPlace,
        /// The number of outstanding requests.
        depth: u32,
    },
}

/// A figure of the simulated disk that differs from the measured one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apart {
    /// The kind of the requests.
    pub kind: Kind,
    /// The figure.
    pub figure: CheckedFigure,
    /// The measured value.
    pub measured: u64,
    /// The value on the simulated disk.
    pub simulated: u64,
}

impl Apart {
    /// Returns the difference in millionths of the smaller value.
    fn ppm(&self) -> u128 {
        let apart = u128::from(self.measured.abs_diff(self.simulated));
        apart * 1_000_000 / u128::from(self.measured.min(self.simulated).max(1))
    }

    /// Returns whether the difference is larger than accepted.
    fn is_beyond(&self) -> bool {
        let apart = self.measured.abs_diff(self.simulated);
        let percent = match self.figure {
            CheckedFigure::Batch { .. } if apart <= APART_MIN.ns() => return false,
            CheckedFigure::Batch { .. } => TIMES_PERCENT_MAX,
            CheckedFigure::Rate { .. } => RATES_PERCENT_MAX,
        };
        u128::from(apart) * 100 > u128::from(self.measured) * u128::from(percent)
    }
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, figure, measured, simulated } = *self;
        match figure {
            CheckedFigure::Batch { requests } => {
                let [measured, simulated] = [measured, simulated].map(Duration::from_ns);
                write!(
                    f,
                    "b({requests}) of {kind} has a median of {measured}, and {simulated} simulated"
                )
            }
            CheckedFigure::Rate { place, depth } => {
                let [measured, simulated] = [measured, simulated].map(|rate| rate / 1_000);
                write!(
                    f,
                    "{depth} outstanding {kind} ({}) have a median of {measured} kB/s, and \
                     {simulated} kB/s simulated",
                    place.name()
                )
            }
        }
    }
}

/// Returns the figures that differ too much, the largest difference first.
///
/// Two kinds of figures are compared: the medians of batches of 1, 2, 4 .. reads at random places
/// (which may differ by 10 % or by 50 us), and the median rates of reads at random and sequential
/// places, at depth 1 and at the full depth (which may differ by 15 %). Tables without medians and
/// rates of fewer than 10 stretches are not compared. Nor are writes, because the mechanics of
/// writes are chosen, not measured.
///
/// # Complexity
/// 300 batches of each of these sizes for each table, and 40 stretches of each flow.
pub fn cross_check(disk: &Mechanics, file: &DriveFile) -> Vec<Apart> {
    let batches = file.batch.iter().filter_map(|table| of_table(disk, table)).flatten();
    let rates = file.throughput.chunk_by(|a, b| (a.op, a.size) == (b.op, b.size));
    let rates = rates.filter_map(|flows| of_flows(disk, flows)).flatten();
    let mut apart: Vec<Apart> = batches.chain(rates).filter(Apart::is_beyond).collect();
    apart.sort_by_key(|it| std::cmp::Reverse(it.ppm()));
    apart
}

fn of_table(disk: &Mechanics, table: &MeasuredTable) -> Option<Vec<Apart>> {
    let level = MeasuredTable::LEVELS_PPM.iter().position(|&level| level == MEDIAN_PPM)?;
    let medians = table.quantiles_ns.get(level)?;
    let (op, size) = (table.op.filter(|&op| op == Op::Read)?, table.size?);
    let kind = Kind { op, size };
    let sizes = (0..16).map(|power| 1_usize << power);
    let sizes: Vec<usize> = sizes.take_while(|&size| size <= medians.len()).collect();
    if sizes.is_empty() {
        return None;
    }
    let places = Places::of(capacity(disk)?, kind);
    let simulated = batches(disk, places, &sizes, medians.len())?;
    let compared = simulated.zip(sizes.iter().copied()).map(|(time, requests)| Apart {
        kind,
        figure: CheckedFigure::Batch { requests },
        measured: medians[requests - 1],
        simulated: whole(time),
    });
    Some(compared.collect())
}

/// Compares the measured throughput of one kind of requests with the simulated disk's.
fn of_flows(disk: &Mechanics, flows: &[Throughput]) -> Option<Vec<Apart>> {
    let Throughput { op, size, .. } = *flows.first().filter(|flow| flow.op == Op::Read)?;
    let kind = Kind { op, size };
    let flows = flows.iter().filter(|it| it.elevator.is_none() && it.samples >= STRETCHES_MIN);
    let flows: Vec<&Throughput> = flows.collect();
    let depth = flows.iter().filter_map(|flow| flow.depth.last()).max().copied()?;
    let mut drive = MechanicalDrive::new(disk, depth, 1).ok()?;
    let params = ProfileParams {
        experiments: vec![Experiment::THROUGHPUT],
        kinds: vec![kind],
        depth,
        samples: SAMPLES,
        ..ProfileParams::new("simulated", &DeviceFacts::default())
    };
    let never = AtomicBool::new(false);
    let made =
        profile_drive(&mut drive, "", capacity(disk)?, &params, |_| (), &never, None).ok()?;
    let compared = flows.into_iter().flat_map(|flow| {
        let simulated = made.file.throughput.iter().find(|it| it.place == flow.place);
        let rate_at = |of: &Throughput, depth: u32| {
            let index = of.depth.iter().position(|&it| it == depth)?;
            of.bytes_per_s.get(index).copied()
        };
        let mut ends: Vec<u32> =
            flow.depth.first().into_iter().chain(flow.depth.last()).copied().collect();
        ends.dedup();
        ends.into_iter().filter_map(move |depth| {
            let figure = CheckedFigure::Rate { place: flow.place, depth };
            let (measured, simulated) = (rate_at(flow, depth)?, rate_at(simulated?, depth)?);
            Some(Apart { kind, figure, measured, simulated })
        })
    });
    Some(compared.collect())
}

fn capacity(disk: &Mechanics) -> Option<Bytes> {
    disk.sectors.checked_mul(Lba::SECTOR_BYTES).map(Bytes::new)
}
