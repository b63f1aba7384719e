// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes test files on the disk that holds the build directory.
//!
//! If that disk has no direct I/O, a test prints why and is skipped.

pub(crate) mod test_ring;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use tidegate_device::create::CreateError;
use tidegate_device::{Access, OpenError, Target};
use tidegate_model::Bytes;

/// Makes a new directory in the build directory.
pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable")
}

/// Returns the path of `name` in `directory`.
pub(crate) fn at(directory: &TempDir, name: &str) -> PathBuf {
    directory.path().join(name)
}

/// Creates a file full of random data; `None` with a printed reason if that is not possible here.
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
