// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The origin of a verdict: the tool and the files, so that it can be repeated.

use serde::Serialize;

/// The tool and the files behind a verdict.
#[derive(Debug, Clone, Serialize)]
pub struct Origin {
    /// The tool's version.
    pub version: &'static str,
    /// The commit that it was built from; `unknown` if it was built without its history.
    pub commit: &'static str,
    /// The workload file.
    pub workload: FileOrigin,
    /// The drive file; `None` for a drive in the workload file, and without a disk.
    pub drive: Option<FileOrigin>,
}

/// A file behind a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileOrigin {
    /// Its path as given, or the name of a built-in drive.
    pub name: String,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// When it was last modified, in UTC; `None` for a built-in drive, or if it is unknown.
    pub modified: Option<String>,
}
