// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks of a `[mechanics]` section: limits that keep arithmetic exact and memory small. The drive
//! itself checks whether a layout and a seek curve fit together.

use super::{Cache, Faults, Mechanics, MechanicsError, ReadAhead, WriteBack};

/// The longest time of any part of serving a request, in nanoseconds: one minute.
const TIME_NS_MAX: u64 = 60_000_000_000;
/// The longest time of a sector, in picoseconds: ten milliseconds.
const SECTOR_PS_MAX: u64 = 10_000_000_000;
/// The largest number of revolutions per minute.
const RPM_MAX: u32 = 1_000_000;
/// The largest number of cache segments.
const SEGMENTS_MAX: u32 = 65_536;
/// The largest number of retries of a faulty access.
const RETRIES_MAX: u32 = 1_000;
/// The largest probability or share, in parts per million.
const MILLION: u32 = 1_000_000;

impl Mechanics {
    /// Checks that every value is possible for a disk.
    ///
    /// # Errors
    /// The first value that is impossible.
    pub fn check(&self) -> Result<(), MechanicsError> {
        if self.rpm == 0 || self.rpm > RPM_MAX {
            let help = format!("write the revolutions per minute, 1 to {RPM_MAX}");
            return Err(wrong("rpm", format!("no disk turns {} times a minute", self.rpm), help));
        }
        for (place, time_ns) in self.times() {
            at_most(place, time_ns, TIME_NS_MAX, "nanoseconds")?;
        }
        for (place, sector_ps) in [
            ("bus: read_sector_ps", self.bus.read_sector_ps),
            ("bus: write_sector_ps", self.bus.write_sector_ps),
        ] {
            at_most(place, sector_ps, SECTOR_PS_MAX, "picoseconds")?;
        }
        share("bus: read_watermark_ppm", self.bus.read_watermark_ppm)?;
        self.cache.as_ref().map_or(Ok(()), Cache::check)?;
        self.faults.as_ref().map_or(Ok(()), Faults::check)?;
        self.queue.check()
    }

    fn times(&self) -> [(&'static str, u64); 15] {
        let overhead = &self.overhead;
        [
            ("head_switch_ns", self.head_switch_ns),
            ("write_settle_ns", self.write_settle_ns.unsigned_abs()),
            ("write_seek_ns_min", self.write_seek_ns_min),
            ("overhead: read_hit_after_read_ns", overhead.read_hit_after_read_ns),
            ("overhead: read_hit_after_write_ns", overhead.read_hit_after_write_ns),
            ("overhead: read_miss_after_read_ns", overhead.read_miss_after_read_ns),
            ("overhead: read_miss_after_write_ns", overhead.read_miss_after_write_ns),
            ("overhead: write_hit_after_read_ns", overhead.write_hit_after_read_ns),
            ("overhead: write_hit_after_write_ns", overhead.write_hit_after_write_ns),
            ("overhead: write_miss_after_read_ns", overhead.write_miss_after_read_ns),
            ("overhead: write_miss_after_write_ns", overhead.write_miss_after_write_ns),
            ("overhead: read_completion_ns", overhead.read_completion_ns),
            ("overhead: write_completion_ns", overhead.write_completion_ns),
            ("overhead: reconnect_ns", overhead.reconnect_ns),
            ("overhead: data_preparation_ns", overhead.data_preparation_ns),
        ]
    }
}

impl Cache {
    fn check(&self) -> Result<(), MechanicsError> {
        let Self { segments, segment_sectors, write_segments, write_back, .. } = *self;
        at_most("cache: segments", u64::from(segments), u64::from(SEGMENTS_MAX), "segments")?;
        if segments == 0 || segment_sectors == 0 {
            let help = "delete [mechanics.cache] for a drive without a cache";
            return Err(wrong("cache: segments", "the cache has no sectors", help));
        }
        if write_segments > segments {
            let help = format!("write at most {segments}");
            return Err(wrong(
                "cache: write_segments",
                format!("{write_segments} exceeds the number of segments"),
                help,
            ));
        }
        if write_back == WriteBack::On && write_segments == 0 {
            let help = "write how many segments may hold writes, or write_back = \"off\"";
            return Err(wrong(
                "cache: write_segments",
                "write_back needs at least one write segment",
                help,
            ));
        }
        if self.read_ahead != ReadAhead::Off && !self.read {
            let help = "write read = true, or read_ahead = \"off\"";
            return Err(wrong(
                "cache: read_ahead",
                "the cache does not answer reads, so reading ahead is useless",
                help,
            ));
        }
        Ok(())
    }
}

impl Faults {
    fn check(&self) -> Result<(), MechanicsError> {
        share("faults: retry_ppm", self.retry_ppm)?;
        share("faults: recalibration_ppm", self.recalibration_ppm)?;
        at_most("faults: recalibration_ns", self.recalibration_ns, TIME_NS_MAX, "nanoseconds")?;
        at_most(
            "faults: retries_max",
            u64::from(self.retries_max),
            u64::from(RETRIES_MAX),
            "retries",
        )
    }
}

fn share(place: &str, ppm: u32) -> Result<(), MechanicsError> {
    at_most(place, u64::from(ppm), u64::from(MILLION), "in a million")
}

fn at_most(place: &str, value: u64, max: u64, unit: &str) -> Result<(), MechanicsError> {
    if value <= max {
        return Ok(());
    }
    Err(wrong(
        place,
        format!("{value} {unit} is impossible for a disk"),
        format!("write at most {max}"),
    ))
}

fn wrong(place: &str, message: impl Into<String>, help: impl Into<String>) -> MechanicsError {
    MechanicsError { place: place.to_owned(), message: message.into(), help: help.into() }
}
