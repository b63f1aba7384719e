// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: C programs can use the library. Method: compile programs with the header, link and run
//! them.
//!
//! Needs a C compiler, which Rust also needs for linking; without one, the test prints this and
//! passes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A drive file: each batch takes 1 ms.
const DRIVE: &str = r#"
name = "disk"
kind = "pseudo"
depth = 4
flush_ns_max = 0
[[batch]]
op = "read"
size = "16KiB"
ns_max = [1000000, 1000000, 1000000, 1000000]
families = [
    { places = "random", ns_max = [1000000, 1000000, 1000000, 1000000] },
    { places = "both_ends", ns_max = [1000000, 1000000, 1000000, 1000000] },
    { places = "clusters", ns_max = [1000000, 1000000, 1000000, 1000000] },
    { places = "track", ns_max = [1000000, 1000000, 1000000, 1000000] },
    { places = "sequential", ns_max = [1000000, 1000000, 1000000, 1000000] },
    { places = "climbed", ns_max = [1000000, 1000000, 1000000, 1000000] },
]
[[batch]]
op = "write"
size = "16KiB"
ns_max = [1000000, 1000000, 1000000, 1000000]
families = [
    { places = "random", ns_max = [1000000, 1000000, 1000000, 1000000] },
    { places = "both_ends", ns_max = [1000000, 1000000, 1000000, 1000000] },
    { places = "clusters", ns_max = [1000000, 1000000, 1000000, 1000000] },
    { places = "track", ns_max = [1000000, 1000000, 1000000, 1000000] },
    { places = "sequential", ns_max = [1000000, 1000000, 1000000, 1000000] },
    { places = "climbed", ns_max = [1000000, 1000000, 1000000, 1000000] },
]
"#;

/// A serve file. Its deadline of 10 s is missed only if the host stops for that long.
const SERVE: &str = r#"
simulate = "disk.drive.toml"
size_max = "16KiB"

[[export]]
name = "camera"
size = "1MiB"
contract = { period = "50ms", deadline = "10s", requests = 1, size_max = "16KiB" }

[[export]]
name = "rest"
size = "64MiB"
best_effort = true
"#;

/// Returns the path of the static library that cargo built for this test, next to the test program.
fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.with_file_name("libtidegate.a")
}

/// Compiles a program and returns its path; `None` if there is no compiler.
fn compile(folder: &Path, source: &Path) -> Option<PathBuf> {
    if Command::new("cc").arg("--version").output().is_err() {
        println!("skipped: cc is not installed");
        return None;
    }
    let program = folder.join("program");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg(source)
        .arg(library())
        .args(["-lssl", "-lcrypto", "-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    Some(program)
}

fn run(folder: &Path, program: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        Command::new(program).current_dir(folder).args(arguments).output().unwrap();
    let text = [stdout, stderr].concat();
    (status.code(), String::from_utf8(text).unwrap())
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("disk.drive.toml"), DRIVE).unwrap();
    std::fs::write(folder.path().join("serve.toml"), SERVE).unwrap();
    folder
}

#[test]
fn the_recorder_records() {
    let folder = folder();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/recorder.c");
    let Some(program) = compile(folder.path(), &source) else { return };
    let (code, said) = run(folder.path(), &program, &["serve.toml", "camera", "1"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("admit: {\"ok\":true"), "{said}");
    assert!(said.contains("20 frames, 0 late"), "{said}");
    let (code, said) = run(folder.path(), &program, &["serve.toml", "nobody", "1"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("there is no export `nobody`"), "{said}");
    let (code, said) = run(folder.path(), &program, &["nothing.toml", "camera", "1"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("No such file or directory: cannot read nothing.toml"), "{said}");
}

#[test]
fn what_was_written_is_read_and_faults_have_words() {
    let folder = folder();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transfers.c");
    let Some(program) = compile(folder.path(), &source) else { return };
    let (code, said) = run(folder.path(), &program, &[]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
}
