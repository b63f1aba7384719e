// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes the simulated drive of a drive file, for requests of any kind.

use tidegate_drive::{AnyRequests, Drive, for_any_requests};
use tidegate_model::{Bytes, DriveFile};

use crate::error::AttachError;
use crate::file_system::REQUEST_MAX;
use crate::loop_device::QueueSettings;

/// The seed of a drive's random numbers: two drives from one file behave identically.
const SEED: u64 = 1;

/// Makes the drive that a drive file describes, and its queue settings for the kernel. The kernel
/// splits requests that are larger than any for which the drive has times.
pub(crate) fn simulate(
    file: &DriveFile,
) -> Result<(Box<dyn Drive + Send>, QueueSettings), AttachError> {
    let AnyRequests { drive, kind, depth, request_max } = for_any_requests(file, SEED)?;
    let request_max = request_max.unwrap_or(REQUEST_MAX).min(REQUEST_MAX);
    Ok((drive, QueueSettings { is_rotational: kind.is_rotational(), depth, request_max }))
}

/// Returns the disk's size: the requested size, or by default the drive's capacity. The capacity is
/// also the limit.
pub(crate) fn size(file: &DriveFile, asked: Option<Bytes>) -> Result<Bytes, AttachError> {
    let size = asked.or(file.capacity()).unwrap_or(SIZE_DEFAULT);
    if size.get() == 0 || !size.get().is_multiple_of(tidegate_model::Lba::SECTOR_BYTES) {
        return Err(AttachError::NotSectors { size });
    }
    match file.capacity() {
        Some(capacity) if size > capacity => {
            Err(AttachError::TooLarge { drive: file.name.clone(), capacity, size })
        }
        _ => Ok(size),
    }
}

/// The size of a drive whose file does not state it.
const SIZE_DEFAULT: Bytes = Bytes::from_kib(64 << 20);

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_model::{Class, Request, RequestId, Time};

    #[test]
    fn a_drive_looks_as_what_it_is_made_of() {
        for (name, is_rotational, depth) in
            [("fujitsu-max3036rc", true, 20), ("nvme-ssd", false, 256)]
        {
            let file = tidegate_drive::builtin::load(name).expect("built in");
            let (_, settings) = simulate(&file).expect("the file states the parts");
            assert_eq!(settings, QueueSettings { is_rotational, depth, request_max: REQUEST_MAX });
        }
    }

    /// Goal: a drive with batch tables gets no request larger than its tables cover. Method: a file
    /// with two sizes.
    #[test]
    fn a_drive_of_tables_gets_nothing_that_was_not_measured() {
        let text = "name = \"t\"\nkind = \"pseudo\"\ndepth = 4\n\
                    [[batch]]\nop = \"read\"\nsize = \"4KiB\"\nns_max = [1_000_000, 3_000_000]\n\
                    [[batch]]\nop = \"read\"\nsize = \"64KiB\"\nns_max = [2_000_000, 3_000_000]\n\
                    [[batch]]\nop = \"write\"\nsize = \"64KiB\"\nns_max = [1_000_000, 5_000_000]\n";
        let file = DriveFile::parse(text).expect("a drive file");
        let (mut drive, settings) = simulate(&file).expect("it has tables");
        assert_eq!((settings.request_max, settings.depth), (Bytes::from_kib(64), 2));
        // A request alone takes at most as long as the slower of a read and a write of the largest
        // size.
        let plain = Request::plain(RequestId(1), Class::BestEffort, Bytes::from_kib(64));
        drive.submit(Time::ZERO, &[plain]);
        assert!(drive.next_event() <= Some(Time::from_ns(2_000_000)));
    }

    #[test]
    fn a_disk_is_at_most_as_large_as_its_drive() {
        let file = tidegate_drive::builtin::load("fujitsu-max3036rc").expect("built in");
        let capacity = file.capacity().expect("it says so");
        assert_eq!(size(&file, None).expect("its own"), capacity);
        assert_eq!(size(&file, Some(Bytes::from_kib(64))).expect("less"), Bytes::from_kib(64));
        let more = Bytes::new(capacity.get() + 512);
        assert!(matches!(size(&file, Some(more)), Err(AttachError::TooLarge { .. })));
        for odd in [0, 511, 513] {
            let odd = size(&file, Some(Bytes::new(odd)));
            assert!(matches!(odd, Err(AttachError::NotSectors { .. })));
        }
    }
}
