// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A file that exists only in memory and uses memory only for the parts that are written.

use std::fs::File;
use std::io;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use tidegate_model::Bytes;

/// Creates a zero-filled file of that size, which no other process can open by name.
///
/// # Errors
/// If the kernel has no memory for it.
pub fn memory_file(size: Bytes) -> io::Result<File> {
    let file = memfd_create("tidegate", MemfdFlags::CLOEXEC)?;
    ftruncate(&file, size.get())?;
    Ok(File::from(file))
}
