// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs the binary as a user or a script would.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder with files in which commands run; it is removed when the test ends.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        // The folder is beside the build output and not in /tmp, which can keep its files in
        // memory.
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        command.current_dir(self.path()).args(arguments);
        command
    }

    /// Returns the exit code, standard output and standard error of `tidegate ARGUMENTS`.
    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().expect("it exits by itself"), text(stdout), text(stderr))
    }

    /// Returns the exit code and the JSON object of `tidegate ARGUMENTS --json`.
    pub(crate) fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let (code, stdout, stderr) = self.run(&[arguments, &["--json"]].concat());
        let value = serde_json::from_str(&stdout);
        (code, value.unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}")))
    }
}
