// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes the drive file of a hard disk from the figures of its data sheet.
//!
//! The tables are equations 7.4.1.5 to 7.4.1.7 ([`Amortised`]). They need the seek curve's linear
//! upper bound, which no data sheet states; [`SeekFigures::line`] derives it.
//!
//! No disk was measured, so the file has the premise `data_sheet`, and every proof from it is weak.

use std::collections::BTreeSet;

use tidegate_model::drive_file::{Identity, MeasuredTable};
use tidegate_model::{
    Bandwidth, BatchTable, Bytes, DriveFile, DriveKind, Duration, Lba, Op, Premise, PremiseCode,
};

use crate::Amortised;
use crate::amortised::expected::expected_service_time_ceil;

/// The seek times of a data sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeekFigures {
    /// The time of a seek to the next track.
    pub track: Duration,
    /// The average time of a seek between random positions.
    pub average: Duration,
    /// The time of a seek from edge to edge.
    pub full: Duration,
}

/// The order in which a disk serves the requests of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchOrder {
    /// From the request nearest to the heads to one end, and back (7.4.1.6).
    TwoSweeps,
    /// From the nearer end in one sweep (7.4.1.5).
    OneSweep,
    /// In any order: each request can need a full seek.
    Any,
}

/// The figures of a hard disk's data sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSheet {
    /// The drive's name.
    pub name: String,
    /// The seek times of reads.
    pub seek: SeekFigures,
    /// How much longer each seek before a write takes; `None`: no tables of writes.
    pub write_seek_extra: Option<Duration>,
    /// Revolutions per minute.
    pub rpm: u32,
    /// The sustained rate on the innermost tracks.
    pub rate_min: Bandwidth,
    /// The time that each command takes in addition to seek, rotation and transfer.
    pub overhead: Duration,
    /// The number of requests that the drive accepts at the same time, 1 to 1,024.
    pub depth: u32,
    /// The order in which the drive serves a batch.
    pub order: BatchOrder,
    /// The sizes of requests for which tables are made.
    pub sizes: Vec<Bytes>,
}

/// Why no disk can have the figures of a data sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataSheetError {
    /// The seek times are not in ascending order.
    #[error(
        "the seek to the next track must be at most the average, and that at most the full seek"
    )]
    SeekOrder,
    /// The average seek is shorter than if seek times grew linearly with the distance.
    #[error("the average seek is less than a third of the way from the track's to the full one")]
    AverageTooShort,
    /// A figure is too long for any hard disk.
    #[error("a seek, a rotation, a transfer or the overhead takes longer than 20 s")]
    TooLong,
    /// A size is not a whole number of sectors.
    #[error("a request has {0} bytes, but devices move whole sectors of 512 bytes")]
    NoSectors(u64),
}

impl DataSheetError {
    /// Returns advice on how to correct the figures.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::SeekOrder => "take the three times from one data sheet, all of reads",
            Self::AverageTooShort => {
                "take the average of random seeks, and a full seek of the same disk"
            }
            Self::TooLong => "check the units, for example 8.5ms, 7200 and 110MB/s",
            Self::NoSectors(_) => "write for example 128KiB",
        }
    }
}

/// The longest time accepted for a figure. It keeps every time of the tables below a day.
const FIGURE_MAX: Duration = Duration::from_ms(20_000);

/// A straight line that bounds a seek curve from above, given by its values at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeekLine {
    /// The line's value at distance zero, t_seek^min of equation 7.4.1.1.
    pub seek_min: Duration,
    /// The line's value at full stroke, t_seek^max.
    pub seek_max: Duration,
}

impl SeekFigures {
    /// Returns the lowest line that meets the curve at the full stroke and lies above it
    /// everywhere, rounded up.
    ///
    /// # Source
    /// Own derivation. The curve is `track + (full - track) x^p`, with x the share of the stroke
    /// and p such that its mean over random places is `average`: x has the density 2 (1 - x), so
    /// the mean of x^p is `r = 2 / ((p + 1) (p + 2))`, and `p = (sqrt(1 + 8 / r) - 3) / 2`. The
    /// curve is concave, so it lies below its tangent at the full stroke, whose value at distance
    /// zero is `full - p (full - track)`. Real curves become straight at shorter distances, so with
    /// the same mean they lie lower near the full stroke; a test compares the line with the curves
    /// of all built-in disks.
    ///
    /// # Panics
    /// If a time exceeds 20 s, or [`DataSheet::drive_file`] refuses the times.
    pub fn line(self) -> SeekLine {
        /// The number of fractional bits of p, which is rounded down.
        const BITS: u32 = 20;
        let [track, average, full] = [self.track, self.average, self.full].map(Duration::ns);
        let (rise, mean) = (u128::from(full - track), u128::from(average - track));
        let ratio = ((8 * rise) << (2 * BITS)).checked_div(mean).unwrap_or_default();
        let root = ((1 << (2 * BITS)) + ratio).isqrt();
        let exponent = root.saturating_sub(3 << BITS) / 2;
        let steepest = u64::try_from((exponent * rise) >> BITS).expect("p is at most 1");
        SeekLine { seek_min: Duration::from_ns(full - steepest), seek_max: self.full }
    }

    fn later(self, extra: Duration) -> Self {
        let Self { track, average, full } = self;
        Self { track: track + extra, average: average + extra, full: full + extra }
    }
}

impl BatchOrder {
    /// Returns the longest time of a batch of `requests` requests.
    fn batch_time_max(self, disk: &Amortised, requests: u32) -> Duration {
        let seeks = match self {
            Self::TwoSweeps => disk.seek_time_max(requests),
            Self::OneSweep => disk.seek_time_single_sweep_max(requests),
            Self::Any => disk.seek_max * u64::from(requests),
        };
        seeks + (disk.rotation_max + disk.transfer_max) * u64::from(requests)
    }

    /// Returns the assumption about the order of service, worded as the end of a sentence.
    fn assumed(self) -> &'static str {
        match self {
            Self::TwoSweeps => "a batch is served in two sweeps",
            Self::OneSweep => "a batch is served in one sweep from the nearer end",
            Self::Any => "a batch is served in any order",
        }
    }
}

impl DataSheet {
    /// Returns the drive file.
    ///
    /// # Errors
    /// [`DataSheetError`] if a figure is impossible, or the figures contradict each other.
    ///
    /// # Panics
    /// If the depth is 0 or above 1,024.
    pub fn drive_file(&self) -> Result<DriveFile, DataSheetError> {
        assert!((1..=1024).contains(&self.depth), "a depth of {}", self.depth);
        self.check()?;
        let mut file = DriveFile::new(self.name.clone(), DriveKind::Pseudo, self.depth);
        file.identity = Identity {
            how: Some("computed from a data sheet by equations 7.4.1.5 to 7.4.1.7".to_owned()),
            ..Identity::default()
        };
        file.premises.push(Premise::new(
            PremiseCode::DataSheet,
            "no measurement",
            format!(
                "the times of `{}` follow from a data sheet, whose figures are typical ones, and from \
                 an assumed seek curve between them; {}, without retries",
                self.name,
                self.order.assumed()
            ),
        ));
        let writes = self.write_seek_extra.map(|extra| (Op::Write, self.seek.later(extra)));
        let sizes: BTreeSet<Bytes> = self.sizes.iter().copied().collect();
        for (op, seek) in [(Op::Read, self.seek)].into_iter().chain(writes) {
            file.batch.extend(sizes.iter().map(|&size| self.table(op, seek, size)));
        }
        Ok(file)
    }

    /// Checks that the figures can be those of a disk.
    fn check(&self) -> Result<(), DataSheetError> {
        let SeekFigures { track, average, full } = self.seek;
        if track > average || average > full {
            return Err(DataSheetError::SeekOrder);
        }
        let (rise, mean) = (full.ns() - track.ns(), average.ns() - track.ns());
        if mean < rise.div_ceil(3) {
            return Err(DataSheetError::AverageTooShort);
        }
        let is_whole =
            |size: &&Bytes| size.get() > 0 && size.get().is_multiple_of(Lba::SECTOR_BYTES);
        if let Some(size) = self.sizes.iter().find(|size| !is_whole(size)) {
            return Err(DataSheetError::NoSectors(size.get()));
        }
        let extra = self.write_seek_extra.unwrap_or_default();
        let seek_max = full.checked_add(extra).unwrap_or(Duration::MAX);
        let transfers = self.sizes.iter().map(|&size| self.transfer(size));
        if transfers.chain([seek_max, self.rotation(), self.overhead]).any(|time| time > FIGURE_MAX)
        {
            return Err(DataSheetError::TooLong);
        }
        Ok(())
    }

    /// Returns the expected time of one read of `size` at a random place, rounded up: the average
    /// seek, half a rotation, the longest transfer and the overhead (section 7.4).
    pub fn expected_read_ceil(&self, size: Bytes) -> Duration {
        expected_service_time_ceil(self.seek.average, self.rotation(), self.transfer(size))
    }

    fn table(&self, op: Op, seek: SeekFigures, size: Bytes) -> MeasuredTable {
        let SeekLine { seek_min, seek_max } = seek.line();
        let (rotation_max, transfer_max) = (self.rotation(), self.transfer(size));
        let disk = Amortised { seek_max, seek_min, rotation_max, transfer_max };
        let times: Vec<Duration> =
            (1..=self.depth).map(|count| self.order.batch_time_max(&disk, count)).collect();
        let ns_max = times.iter().map(|time| time.ns()).collect();
        let table = BatchTable::new(&times).expect("a rotation takes time");
        MeasuredTable { op: Some(op), size: Some(size), ..MeasuredTable::of_times(ns_max, table) }
    }

    fn rotation(&self) -> Duration {
        Duration::from_ns(60_000_000_000_u64.div_ceil(self.rpm.max(1).into()))
    }

    /// Returns the longest transfer with the overhead, rounded up.
    fn transfer(&self, size: Bytes) -> Duration {
        let ns = u128::from(size.get()) * 1_000_000_000;
        let ns = ns.div_ceil(u128::from(self.rate_min.bytes_per_s()));
        let transfer = Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX));
        transfer.checked_add(self.overhead).unwrap_or(Duration::MAX)
    }
}
