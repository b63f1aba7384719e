// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether direct I/O on a file really passes by the page cache, found out by trying.
//!
//! Some file systems accept the flag and read through the cache all the same (compressed
//! btrfs, FUSE, overlays). So: drop the file from the cache, read some blocks directly,
//! and look whether the kernel now holds them in memory.

use std::os::fd::OwnedFd;

use rustix::fs::{Advice, fadvise, fstat};
use rustix::io::{Errno, pread};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use tidegate_model::Bytes;

use crate::buffers::Buffers;

/// How much each probe reads, and where probes may start.
const PROBE_BYTES: u64 = 64 << 10;

/// How many places are probed.
const PROBES: u64 = 8;

/// What became of blocks that were read directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Residency {
    /// They were not kept in memory: direct I/O is real.
    Bypassed,
    /// They came into the page cache: direct I/O is pretended.
    Cached,
    /// They were in memory all the time, before the read too.
    Stays,
    /// The kernel does not tell this user.
    Hidden,
}

/// Reads blocks of an open file of `size` directly and says what became of them.
pub(crate) fn probe(file: &OwnedFd, size: Bytes) -> Result<Residency, Errno> {
    let length = PROBE_BYTES.min(size.get());
    let mut buffer = Buffers::new(1, length_of(length))?;
    // The whole file: the kernel drops only folios that lie in the range entirely.
    fadvise(file, 0, None, Advice::DontNeed)?;
    let mut bypassed = false;
    for start in places(size.get()) {
        if is_resident(file, start, length)? {
            continue;
        }
        pread(file, &mut buffer.slot_mut(0)[..length_of(length)], start)?;
        if is_resident(file, start, length)? {
            return Ok(Residency::Cached);
        }
        bypassed = true;
    }
    match bypassed {
        true => Ok(Residency::Bypassed),
        false if is_visible(file)? => Ok(Residency::Stays),
        false => Ok(Residency::Hidden),
    }
}

/// Starts of the probes, spread evenly.
fn places(size: u64) -> impl Iterator<Item = u64> {
    let blocks = (size / PROBE_BYTES).max(1);
    let probes = PROBES.min(blocks);
    (0..probes).map(move |probe| blocks * probe / probes * PROBE_BYTES)
}

/// Whether the kernel tells this user what is in memory: only to the owner and to root,
/// everybody else is told that everything is.
fn is_visible(file: &OwnedFd) -> Result<bool, Errno> {
    let user = rustix::process::geteuid();
    Ok(user.is_root() || user.as_raw() == fstat(file)?.st_uid)
}

/// Whether any page of a part of the file is in the page cache.
#[expect(unsafe_code, reason = "mincore wants a mapping")]
fn is_resident(file: &OwnedFd, start: u64, length: u64) -> Result<bool, Errno> {
    let length = length_of(length);
    let mut pages = vec![0_u8; length.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping at an address of the kernel's choice, never dereferenced: so
    // neither this process nor a shrinking file can make a fault of it.
    let address = unsafe {
        mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file, start)?
    };
    // SAFETY: the range is the mapping just made, `pages` has one byte for each of its pages.
    let answer = unsafe { libc::mincore(address, length, pages.as_mut_ptr()) };
    let error = std::io::Error::last_os_error();
    // SAFETY: nothing refers to the mapping.
    unsafe { munmap(address, length)? };
    if answer != 0 {
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
    Ok(pages.iter().any(|page| page & 1 != 0))
}

fn length_of(length: u64) -> usize {
    usize::try_from(length).expect("at most PROBE_BYTES")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_spread_and_lie_within() {
        assert_eq!(places(4096).collect::<Vec<_>>(), [0]);
        assert_eq!(places(PROBE_BYTES * 2).collect::<Vec<_>>(), [0, PROBE_BYTES]);
        let many: Vec<_> = places(PROBE_BYTES * 80 + 512).collect();
        assert_eq!(many.len(), 8);
        assert_eq!(many[7], PROBE_BYTES * 70);
    }
}
