// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: no screen changes unnoticed. Method: snapshots of every screen of `tidegate`, at 40, 80
//! and 120 columns, with its exit code.
//!
//! No line may be wider than its terminal (`widths`). Each test is a name and the lines that a user
//! types. `sh` runs them in a new copy of `files`, which also contains the built-in drives and
//! workloads. The snapshot `../snapshots/NAME.snap` shows each line, its standard output, its
//! standard error, and its exit code unless that is 0. If the screen depends on the width, the
//! snapshot shows the line three times. Only `measured` depends on the host, because all other
//! drives are simulated in virtual time.
//!
//! `values`, `simulated` and `drives` compare the output for programs with independent figures.
//!
//! A changed screen fails its test and writes nothing. To accept the change, run
//! `INSTA_UPDATE=always cargo test -p tidegate --test screens` and read `git diff`.

mod attach;
mod check;
mod cpu;
mod drive;
mod drives;
mod figures;
mod help;
mod measured;
mod profile;
mod quiet;
mod service;
mod sim;
mod simulated;
mod suggestions;
mod tune;
mod values;
mod watch;
mod widths;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tidegate");

/// The widths, in columns, at which each screen is taken.
const COLUMNS: [&str; 3] = ["40", "80", "120"];

/// Defines a test for each name, which compares the output of its lines with its snapshot.
macro_rules! screens {
    ($($(#[$attribute:meta])* $name:ident: $lines:expr;)*) => {$(
        $(#[$attribute])*
        #[test]
        fn $name() {
            $crate::compare(stringify!($name), &$lines);
        }
    )*};
}

use screens;

/// Compares the output of the lines with the snapshot called `name`.
fn compare(name: &str, lines: &[&str]) {
    compare_in(name, lines, &folders());
}

/// Makes a folder for each width.
fn folders() -> [TempDir; 3] {
    COLUMNS.map(|_| folder())
}

/// Makes a folder with a copy of `files`, and the built-in drives and workloads.
///
/// The folder's path always has the same length, because screens are wrapped before [`redacted`]
/// replaces it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let from = ["tests/screens/files/.", "../../drives", "../../workloads"];
    let from = from.map(|it| crate_folder.join(it));
    let copied = Command::new("cp").arg("-R").args(from).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    folder
}

fn compare_in(name: &str, lines: &[&str], folders: &[TempDir; 3]) {
    let mut text = String::new();
    for line in lines {
        let screens = [0, 1, 2].map(|it| screen(line, folders[it].path(), COLUMNS[it]));
        screens
            .iter()
            .zip(COLUMNS)
            .for_each(|(it, columns)| widths::assert_fits(line, it, columns));
        if screens.iter().all(|screen| *screen == screens[0]) {
            let _ = write!(text, "$ {line}\n{}", screens[0]);
        } else {
            for (columns, screen) in COLUMNS.iter().zip(screens) {
                let _ = write!(text, "$ {line}    # {columns} columns\n{screen}");
            }
        }
    }
    assert_snapshot(name, &text);
}

fn assert_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Returns a line's output, and its exit code.
fn screen(line: &str, folder: &Path, columns: &str) -> String {
    let Output { status, stdout, stderr } = run(line, folder, columns);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_owned()).unwrap();
    let (mut screen, said) = (text(&stdout), text(&stderr));
    if !said.is_empty() {
        let _ = write!(screen, "[standard error]\n{said}");
    }
    if status.code() != Some(0) {
        let _ = writeln!(screen, "[{status}]");
    }
    let redacted = screen.lines().map(|line| redacted(line, folder) + "\n");
    redacted.collect::<String>() + "\n"
}

/// Replaces text that differs from run to run: the folder, the version, the commit, hashes, dates.
fn redacted(line: &str, folder: &Path) -> String {
    let folder = folder.to_str().unwrap();
    let line = line.replace(folder, "FOLDER").replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let varying = [
        ("when = ", "DATE"),
        ("tidegate VERSION (", "BUILD)"),
        ("    \"commit\": ", "\"COMMIT\","),
        ("      \"sha256\": ", "\"HASH\","),
        ("      \"modified\": \"", "DATE\""),
    ];
    let varying = varying.into_iter().find(|(start, _)| line.starts_with(start));
    varying.map_or_else(|| line.clone(), |(start, what)| format!("{start}{what}"))
}

/// Runs a line and returns its exit code and the JSON object that it prints.
fn json_of(line: &str, folder: &Path) -> (i32, Value) {
    let Output { status, stdout, stderr } = run(line, folder, COLUMNS[0]);
    let value = serde_json::from_slice(&stdout);
    let said = String::from_utf8_lossy(&stderr);
    let code = status.code().expect("it ends by itself");
    (code, value.unwrap_or_else(|error| panic!("{line}: {error}: {said}")))
}

fn run(line: &str, folder: &Path, columns: &str) -> Output {
    command(line, folder, columns).output().unwrap()
}

fn command(line: &str, folder: &Path, columns: &str) -> Command {
    let program = Path::new(PROGRAM).parent().unwrap().as_os_str();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [program.to_owned(), path].join(&OsString::from(":"));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).stdin(Stdio::null());
    command.env("PATH", path).env("COLUMNS", columns).env("LC_ALL", "C");
    command.env_remove("CLICOLOR_FORCE");
    command
}
