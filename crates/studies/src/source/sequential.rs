// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures sequential reads from a given place of a simulated disk, one at a time. A workload
//! cannot state where a sequential source begins.

use tidegate_drive::Drive;
use tidegate_model::{Bytes, Class, DriveFile, DriveKind, Lba, Op, Request, RequestId, Time};
use tidegate_stats::float;

/// The number of timed reads.
const READS: u64 = 400;

/// Returns the throughput, in bytes per second, of reads of this size from sector `first` on.
///
/// # Errors
/// If the drive file has no mechanics.
pub(super) fn rate(file: &DriveFile, size: Bytes, first: u64) -> Result<f64, String> {
    let drive = tidegate_drive::from_parts(DriveKind::Mechanical, file, 1);
    let mut drive = drive.map_err(|error| error.to_string())?;
    let mut now = Time::ZERO;
    let mut done = Vec::new();
    for index in 0..READS {
        let start = Lba::new(first + index * size.sectors_ceil());
        let plain = Request::plain(RequestId(index), Class::Hard, size);
        drive.submit(now, &[Request { op: Op::Read, start, ..plain }]);
        done.clear();
        while done.is_empty() {
            now = drive.next_event().ok_or("the drive forgot a request")?;
            drive.advance(now, &mut done);
        }
    }
    let bytes = float::of(READS) * float::of(size.get());
    Ok(bytes * 1e9 / float::of(now.since(Time::ZERO).ns()))
}
