// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads files that are used as disks: the part beyond their end reads as zero.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Fills `memory` with the file's bytes from `offset` on; the part beyond the end of the file reads
/// as zero.
///
/// # Errors
/// If the file cannot be read.
pub fn read_with_zeroes(store: &File, mut memory: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !memory.is_empty() {
        let count = match store.read_at(memory, offset) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if count == 0 {
            memory.fill(0);
            return Ok(());
        }
        memory = &mut memory[count..];
        offset += count as u64;
    }
    Ok(())
}
