// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest time of reads on a solid-state drive that is not written.

use tidegate_model::ssd::Ssd;
use tidegate_model::{Bytes, Duration, Lba, Op};

use super::line::time;

/// Returns the longest time in which a drive that is never written serves `requests` reads that it
/// holds, each of at most the largest size in `kinds`; `None` if `kinds` has writes.
///
/// # Bound
/// `overhead + n (u (read + channel + link) + command)`: every unit of every request lies on a page
/// of its own, all of these pages on one die, and no stage works while another does. Each stage is
/// busy whenever it holds something, so it finishes at most the time of all its own work after the
/// stage before it has finished.
///
/// # Assumptions
/// Without writes there is no program, no erase and no garbage collection. A request may begin
/// within a unit.
///
/// # Source
/// Own derivation, from the parts of [`super::SsdDrive`].
pub(crate) fn of_reads(ssd: &Ssd, kinds: &[(Op, Bytes)], requests: u32) -> Option<Duration> {
    let size = kinds.iter().map(|&(op, size)| (op == Op::Read).then_some(size.get()));
    let size = size.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
    let unit = u64::from(ssd.unit_bytes);
    // A request begins at the last sector of its first unit at the latest.
    let units = (size + unit - Lba::SECTOR_BYTES).div_ceil(unit);
    let read = Duration::from_ns(ssd.read_ns.iter().copied().max()?);
    let each = read + time(unit, ssd.channel_bytes_per_s) + time(unit, ssd.link.bytes_per_s);
    let one = each * units + Duration::from_ns(ssd.link.command_ns);
    Some(Duration::from_ns(ssd.overhead_ns) + one * u64::from(requests))
}
