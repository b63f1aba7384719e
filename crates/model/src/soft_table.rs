// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A batch table that holds most of the time: b at a measured quantile, for soft guarantees.
//!
//! It says which samples it came from and nothing about what they prove: that takes
//! statistics, which are where floating point is allowed.

use crate::batch_table::BatchTable;
use crate::drive_file::MeasuredTable;
use crate::units::Duration;

/// b(i) at one quantile, for the requests of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoftTable {
    /// Which quantile of the samples, in parts per million.
    pub level_ppm: u32,
    /// Its running maximum.
    pub table: BatchTable,
    /// The measurements it was put together from: one, or reads and writes.
    pub sources: Vec<SampleCount>,
}

/// How much was measured for one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleCount {
    /// How often each batch was measured, at least.
    pub samples: u64,
    /// How many entries the table has.
    pub entries: u32,
}

impl SoftTable {
    /// Quantiles below are of no use: a promise that one job in ten breaks is none.
    pub const LEVEL_MIN_PPM: u32 = 990_000;

    /// The tables at each useful quantile that all of `measured` have, the lowest first; none
    /// where the number of samples is not known. Batches that mix are charged as in
    /// [`BatchTable::mixed_with`].
    pub fn of(measured: &[&MeasuredTable]) -> Vec<Self> {
        let levels = MeasuredTable::LEVELS_PPM.into_iter().enumerate();
        levels
            .filter(|&(_, level_ppm)| level_ppm >= Self::LEVEL_MIN_PPM)
            .filter_map(|(index, level_ppm)| Self::at(measured, index, level_ppm))
            .collect()
    }

    fn at(measured: &[&MeasuredTable], index: usize, level_ppm: u32) -> Option<Self> {
        let mut table: Option<BatchTable> = None;
        let mut sources = Vec::with_capacity(measured.len());
        for of_op in measured {
            let times = of_op.quantiles_ns[index].iter().copied().map(Duration::from_ns);
            let own = BatchTable::new(&times.collect::<Vec<_>>()).ok()?;
            sources.push(SampleCount { samples: of_op.samples?, entries: own.batch_max() });
            table = Some(match table {
                None => own,
                Some(known) => known.mixed_with(&own),
            });
        }
        Some(Self { level_ppm, table: table?, sources })
    }
}
