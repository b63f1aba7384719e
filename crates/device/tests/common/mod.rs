// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files to test on, on the disk that holds the build directory.
//!
//! Where that is no disk with direct I/O, a test skips and prints why.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use tidegate_device::create::CreateError;
use tidegate_device::{Access, OpenError, Target};
use tidegate_model::Bytes;

/// A directory of its own in the build directory.
pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable")
}

/// The path of `name` in `directory`.
pub(crate) fn at(directory: &TempDir, name: &str) -> PathBuf {
    directory.path().join(name)
}

/// A new file full of random data, or `None` with a printed reason.
pub(crate) fn created(path: &Path, size: Bytes, access: Access) -> Option<Target> {
    match Target::create(path, size, access, |_| (), &AtomicBool::new(false)) {
        Ok(target) => Some(target),
        Err(
            error @ CreateError::Unusable(
                OpenError::MemoryFileSystem { .. } | OpenError::NoDirectIo { .. },
            ),
        ) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
