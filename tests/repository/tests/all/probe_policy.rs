// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a policy, a theorem, a bound, a contract or a regulator that is added only to its enum
//! stops the build wherever it matters, so that nothing is promised by default.
//!
//! Method: the test copies the crates concerned into the target directory, adds a probe to one enum
//! at a time, and records in which files the compiler finds a match that is no longer exhaustive
//! (E0004). The copy has its own target directory, which is kept between runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates that the copy needs, without their tests and the dependencies of these tests.
const CRATES: [&str; 7] = ["model", "stats", "policy", "analysis", "drive", "host", "sim"];

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A copy of a part of the workspace.
struct Copy {
    root: PathBuf,
}

impl Copy {
    /// Copies the crates unchanged. Unchanged files keep their modification time, so that their
    /// compiled output is reused.
    fn new() -> Self {
        let copy = Self { root: Path::new(env!("CARGO_TARGET_TMPDIR")).join("probe-policy") };
        let [from, to] = [Path::new(ROOT), &copy.root];
        let workspace = read(&from.join("Cargo.toml"));
        let members = CRATES.map(|name| format!("\"crates/{name}\"")).join(", ");
        let rest = section_after(&workspace, "[workspace.package]");
        let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n\n{rest}");
        write(&to.join("Cargo.toml"), &manifest);
        write(&to.join("Cargo.lock"), &read(&from.join("Cargo.lock")));
        copy_folder(&from.join("drives"), &to.join("drives"));
        for name in CRATES {
            let [from, to] = [from, to].map(|root| root.join("crates").join(name));
            write(&to.join("Cargo.toml"), &without_tests(&read(&from.join("Cargo.toml"))));
            copy_folder(&from.join("src"), &to.join("src"));
        }
        copy
    }

    /// Inserts `new` after the only `anchor` in a file.
    fn insert(&self, file: &str, anchor: &str, new: &str) {
        let path = self.root.join(file);
        let text = read(&path);
        assert_eq!(text.matches(anchor).count(), 1, "`{anchor}` stands once in {file}");
        write(&path, &text.replace(anchor, &format!("{anchor}{new}")));
    }

    /// Returns the files in which the compiler, when it checks a crate, finds matches that are not
    /// exhaustive; empty if the crate compiles. Any other error is a fault of the probe.
    fn open_matches(&self, name: &str) -> BTreeSet<String> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let output = Command::new(cargo)
            .args(["check", "--offline", "--message-format=short", "-p"])
            .arg(format!("tidegate-{name}"))
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env_remove("RUSTFLAGS")
            .output()
            .expect("cargo runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let errors = said.lines().filter(|line| line.contains(": error"));
        let found: BTreeSet<String> = errors
            .map(|line| {
                assert!(line.contains("error[E0004]"), "the probe of {name} is at fault: {line}");
                line.split(':').next().unwrap_or_default().to_owned()
            })
            .collect();
        assert_eq!(output.status.success(), found.is_empty(), "{said}");
        found
    }

    /// Asserts that exactly these files of a crate have matches that are not exhaustive.
    fn stops(&self, name: &str, files: &[&str]) {
        let expected = files.iter().map(|file| format!("crates/{name}/src/{file}")).collect();
        assert_eq!(self.open_matches(name), expected, "after the last probe");
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes a file unless it already has this text.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    let folder = path.parent().expect("a file in a folder");
    fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).expect("room for a copy");
}

/// Copies the files of a folder, and removes copies of files that no longer exist.
fn copy_folder(from: &Path, to: &Path) {
    let names = |folder: &Path| -> BTreeSet<_> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.expect("a readable folder").file_name()).collect()
    };
    let wanted = names(from);
    for gone in names(to).difference(&wanted).map(|name| to.join(name)) {
        let removed = if gone.is_dir() { fs::remove_dir_all(gone) } else { fs::remove_file(gone) };
        removed.expect("a copy that can be changed");
    }
    for name in wanted {
        let [from, to] = [from, to].map(|folder| folder.join(&name));
        if from.is_dir() {
            copy_folder(&from, &to);
        } else {
            write(&to, &read(&from));
        }
    }
}

/// Returns the part of a manifest that begins with a section.
fn section_after<'a>(manifest: &'a str, section: &str) -> &'a str {
    &manifest[manifest.find(section).expect("the section is there")..]
}

/// Returns a crate's manifest without the parts that only its tests and benches need.
fn without_tests(manifest: &str) -> String {
    let mut is_kept = true;
    let mut kept = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            let dropped = ["[dev-dependencies]", "[[bench]]", "[[test]]", "[[example]]"];
            is_kept = !dropped.contains(&line.trim());
        }
        if is_kept {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

const NAMES: &str = "crates/model/src/names.rs";
const FACTS: &str = "crates/model/src/facts.rs";
const REGULATORS: &str = "crates/model/src/regulator.rs";
const THEOREMS: &str = "crates/model/src/facts/theorem.rs";
const CONTRACTS: &str = "crates/model/src/contracts.rs";
const PLACES: &str = "crates/model/src/workload_file/places.rs";
const SLOWDOWN: &str = "crates/model/src/slowdown.rs";
const WRAP: &str = "crates/policy/src/regulators/mod.rs";
const MATCH_OF_ROWS: &str =
    "// dispatch, the reason for no bound, conserved work, required knowledge of the drive.\n";

/// Goal: an added name stops the build at its row, its builder and its checkers, in this order, and
/// all other code compiles. Method: each error is fixed before the next one appears.
#[test]
fn added_names_stop_the_build_wherever_they_count() {
    let copy = Copy::new();
    assert_eq!(copy.open_matches("sim"), BTreeSet::new());
    assert_eq!(copy.open_matches("analysis"), BTreeSet::new());

    copy.insert(NAMES, "Noop => \"noop\",\n", "/// A probe.\nProbe => \"probe\",\n");
    copy.stops("model", &["names.rs"]);
    let row = "unproved(OneAtATime, \"a probe\", Conserves::All, Nothing)";
    copy.insert(NAMES, MATCH_OF_ROWS, &format!("Self::Probe => {row},\n"));
    copy.stops("model", &[]);
    copy.stops("policy", &["build.rs"]);
    let fifo = "Box::new(Fifo::new(queued_max))";
    let build = format!("PolicyName::Probe => {fifo},\n");
    copy.insert("crates/policy/src/build.rs", &format!("PolicyName::Fifo => {fifo},\n"), &build);
    copy.stops("policy", &[]);
    copy.stops("sim", &["checkers/promises.rs"]);
    // Nothing in `analysis` matches on the name, only on the theorem, which the new row does not
    // state.
    copy.stops("analysis", &[]);
    let theorem = copy.root.join("crates/analysis/src/select.rs");
    assert!(!read(&theorem).contains("PolicyName::"), "theorems are chosen by the row alone");

    let copy = Copy::new();
    copy.insert(THEOREMS, "pub enum Theorem {\n", "/// A probe.\nProbe,\n");
    copy.stops("model", &["facts/theorem.rs"]);
    copy.insert(THEOREMS, "match self {\n", "Self::Probe => Self::Fifo.facts(),\n");
    copy.stops("analysis", &["curves.rs", "select.rs", "tolerance.rs"]);

    let copy = Copy::new();
    let bounds = "crates/analysis/src/bounds.rs";
    copy.insert(bounds, "pub enum BoundName {\n", "/// A probe.\nProbe => \"probe\",\n");
    copy.stops("analysis", &["bounds.rs"]);

    let copy = Copy::new();
    let name = "/// A probe.\nProbe => \"probe\",\n";
    copy.insert(CONTRACTS, "pub enum DriveContract {\n", name);
    copy.stops("model", &["contracts.rs", "facts.rs", "slowdown.rs", "workload_file/places.rs"]);
    for arm in ["Self::Drain | Self::Priority => true,\n", "Self::Batches => \"table\",\n"] {
        let value = &arm[arm.find("=>").expect("an arm")..];
        copy.insert(CONTRACTS, arm, &format!("Self::Probe {value}"));
    }
    copy.insert(FACTS, "DriveContract::Priority => true,\n", "DriveContract::Probe => true,\n");
    let arm = "DriveContract::Batches => Vec::new(),\n";
    copy.insert(PLACES, arm, "DriveContract::Probe => Vec::new(),\n");
    copy.insert(SLOWDOWN, "match contract {\n", "DriveContract::Probe => (),\n");
    copy.stops("analysis", &["ceilings.rs", "deferred.rs", "expected.rs", "tolerance.rs"]);
    copy.stops("host", &["contract_watch.rs"]);

    let copy = Copy::new();
    let name = "/// A probe.\nProbe => \"probe\",\n";
    copy.insert(REGULATORS, "DepthLimit => \"depth-limit\",\n", name);
    copy.stops("model", &["regulator.rs"]);
    for arm in ["Self::Mdn | Self::MdnExtended => true,\n", "Self::DepthLimit => true,\n"] {
        copy.insert(REGULATORS, arm, "Self::Probe => true,\n");
    }
    let arm = "Self::Mdn | Self::DepthLimit | Self::TokenBucket | Self::TokensPerTask => false,\n";
    copy.insert(REGULATORS, arm, "Self::Probe => false,\n");
    copy.stops("policy", &["regulators/mod.rs"]);
    copy.insert(WRAP, "match name {\n", "RegulatorName::Probe => policy,\n");
    copy.stops("sim", &["checkers/promises.rs", "checkers/rate_kept.rs"]);
    copy.stops("analysis", &["regulated.rs", "shaping.rs"]);
}

#[test]
fn manifests_are_cut_where_they_should_be() {
    let manifest = "[package]\nname = \"a\"\n[dev-dependencies]\nb = \"1\"\n[lints]\nc = 2\n";
    assert_eq!(without_tests(manifest), "[package]\nname = \"a\"\n[lints]\nc = 2\n");
    assert_eq!(section_after("[a]\n1\n[b]\n2\n", "[b]"), "[b]\n2\n");
}
