// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The origin of a verdict: the program and the files, so that the verdict can be reproduced.

use serde::Serialize;

/// The program and the files behind a verdict.
#[derive(Debug, Clone, Serialize)]
pub struct Origin {
    /// The program's version.
    pub version: &'static str,
    /// The commit from which the program was built; `unknown` if it was built without the history.
    pub commit: &'static str,
    /// The workload file.
    pub workload: FileOrigin,
    /// The drive file; `None` if the workload file contains the drive, or there is no disk.
    pub drive: Option<FileOrigin>,
}

/// A file behind a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileOrigin {
    /// The file's path as given, or the name of a built-in drive.
    pub name: String,
    /// The SHA-256 of the file's content, in hexadecimal digits.
    pub sha256: String,
    /// The time of the last modification, in UTC; `None` for a built-in drive, or if it is unknown.
    pub modified: Option<String>,
}
