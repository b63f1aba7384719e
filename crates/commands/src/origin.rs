// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Identifies the tool and the files behind a verdict.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use tidegate_report::{FileOrigin, Origin};

/// The commit that the build script found.
const COMMIT: &str = env!("TIDEGATE_COMMIT");

/// The version, with the commit and the date that the build script found.
pub const BUILD: &str = env!("TIDEGATE_BUILD");

/// The date of the commit, or the date that `SOURCE_DATE_EPOCH` states; empty if there is neither.
pub const DATE: &str = env!("TIDEGATE_DATE");

/// Returns the version and the commit of this build.
pub fn version() -> String {
    format!("{}+{COMMIT}", env!("CARGO_PKG_VERSION"))
}

/// Returns the origin of a verdict on these files.
pub fn of(workload: FileOrigin, drive: Option<FileOrigin>) -> Origin {
    Origin { version: env!("CARGO_PKG_VERSION"), commit: COMMIT, workload, drive }
}

/// Returns the origin of a file with this `text`.
pub fn of_file(path: &Path, text: &str) -> FileOrigin {
    let modified = path.metadata().and_then(|metadata| metadata.modified()).ok();
    let modified = modified.map(|at| humantime::format_rfc3339_seconds(at).to_string());
    FileOrigin { name: path.display().to_string(), sha256: sha256(text), modified }
}

/// Returns the origin of a built-in drive with this `text`.
pub(crate) fn of_built_in(name: &str, text: &str) -> FileOrigin {
    FileOrigin { name: name.to_owned(), sha256: sha256(text), modified: None }
}

fn sha256(text: &str) -> String {
    let mut digits = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: FIPS 180-2, appendix B.1.
    #[test]
    fn a_hash_is_that_of_sha256sum() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256("abc"), abc);
    }
}
