// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A ring on a new file.

use std::path::PathBuf;

use tempfile::TempDir;
use tidegate_device::{Access, RingError, Target};
use tidegate_model::Bytes;

use crate::common::{at, created, scratch};

/// A ring, its file, and the file's directory, which is removed with them.
pub(crate) struct TestRing<R> {
    pub(crate) ring: R,
    pub(crate) path: PathBuf,
    _directory: TempDir,
}

/// Makes a ring on a new file of 1 MiB; `None` with a printed reason if that is not possible.
pub(crate) fn on_new_file<R>(
    access: Access,
    make: impl FnOnce(&Target) -> Result<R, RingError>,
) -> Option<(TestRing<R>, Target)> {
    let directory = scratch();
    let path = at(&directory, "file");
    let target = created(&path, Bytes::from_kib(1 << 10), access)?;
    match make(&target) {
        Ok(ring) => Some((TestRing { ring, path, _directory: directory }, target)),
        Err(error @ (RingError::Forbidden { .. } | RingError::Absent)) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
