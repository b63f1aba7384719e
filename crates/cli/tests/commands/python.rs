// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate sweep` and `tidegate place` run the Python package, and say how to install it
//! where it is missing. Method: shell scripts instead of the interpreter, so that no Python is
//! needed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a command with `script`, if there is one, as `python3`, and with nothing else on the path.
fn run(words: &[&str], script: Option<&str>) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    if let Some(script) = script {
        let python = folder.path().join("python3");
        std::fs::write(&python, format!("#!/bin/sh\n{script}\n")).expect("a script");
        std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).expect("ours");
    }
    run_with(words, folder.path())
}

fn run_with(words: &[&str], path: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.args(words).env("PATH", path).env_remove("TIDEGATE_PYTHON");
    command.output().expect("it starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

const PLACE: [&str; 4] = ["place", "fleet.toml", "-o", "plan"];

#[test]
fn without_python_the_way_to_install_it_is_told() {
    let output = run(&PLACE, None);
    assert_eq!(output.status.code(), Some(2));
    let said = said(&output);
    assert!(said.contains("cannot start `python3`"), "{said}");
    assert!(said.contains("make wheel && python3 -m pip install"), "{said}");
    assert!(said.contains("[place]"), "{said}");
}

#[test]
fn without_the_package_the_missing_modules_are_named() {
    let output = run(&["sweep", "sweep.toml", "-o", "rows.csv"], Some("echo tidegate pyarrow"));
    assert_eq!(output.status.code(), Some(2));
    let said = said(&output);
    assert!(said.contains("`python3` lacks tidegate, pyarrow"), "{said}");
    assert!(said.contains("[sweep]"), "{said}");
}

#[test]
fn an_interpreter_that_fails_is_no_missing_package() {
    let output = run(&PLACE, Some("echo 'SyntaxError: old' >&2; exit 1"));
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("SyntaxError: old"), "{}", said(&output));
}

/// The script is called twice: with `-c` to find missing modules, then with `-m tidegate`.
#[test]
fn arguments_and_exit_code_are_those_of_the_package() {
    let script = r#"[ "$1" = -c ] && exit 0; printf '%s\n' "$@"; exit 1"#;
    let changed = ["--before", "old plan", "--failed", "shelf-1,shelf-2"];
    let output = run(&[&PLACE[..], &changed[..]].concat(), Some(script));
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8_lossy(&output.stdout);
    let expected = [
        "-m",
        "tidegate",
        "place",
        "fleet.toml",
        "--output",
        "plan",
        "--before",
        "old plan",
        "--failed",
        "shelf-1",
        "--failed",
        "shelf-2",
    ];
    assert_eq!(words.lines().collect::<Vec<_>>(), expected);
    let output = run(&["sweep", "s.toml", "-o", "r.csv", "--store", "kept", "-q"], Some(script));
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(words.ends_with("s.toml\n--output\nr.csv\n--store\nkept\n--quiet\n"), "{words}");
}
