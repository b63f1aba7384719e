// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads text files that the command line names.

use std::path::Path;

use tidegate_platform::text_file;

use crate::failure::Failure;

/// Reads the text of a file that the user named.
pub(crate) fn read_named(path: &Path, what: &str) -> Result<String, Failure> {
    text_file::read(path).map_err(|error| {
        Failure::input(
            format!("cannot read the {what} {}: {error}", path.display()),
            "name an existing, readable file",
        )
    })
}
