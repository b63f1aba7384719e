// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A file that exists in memory only, and takes memory for what is written to it.

use std::fs::File;
use std::io;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use tidegate_model::Bytes;

/// A file of that size, all of it zero, that nobody else can name.
///
/// # Errors
/// When the kernel has no room for it.
pub fn memory_file(size: Bytes) -> io::Result<File> {
    let file = memfd_create("tidegate", MemfdFlags::CLOEXEC)?;
    ftruncate(&file, size.get())?;
    Ok(File::from(file))
}
