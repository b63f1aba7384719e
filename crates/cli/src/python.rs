// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate sweep` and `tidegate place`: only the Python package implements them, so its process
//! replaces this one.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::answer::Answer;
use crate::failure::Failure;

/// The environment variable that names another Python interpreter.
const INTERPRETER: &str = "TIDEGATE_PYTHON";

/// Keeps Python from importing modules from the current folder, where one may be called `tidegate`.
const SAFE_PATH: (&str, &str) = ("PYTHONSAFEPATH", "1");

/// A Python program that prints the package of each missing module, without importing any.
const PROBE: &str = "\
import sys
from importlib.machinery import PathFinder
def lacks(name):
    path = None
    for part in name.split('.'):
        found = PathFinder.find_spec(part, path)
        if found is None:
            return True
        path = found.submodule_search_locations or []
    return False
print(*[name.split('.')[0] for name in sys.argv[1:] if lacks(name)])";

/// The package's compiled module, which a folder with only the sources lacks.
const PACKAGE: &str = "tidegate._native";

#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// The sweep file (TOML): workloads, drives, policies, seeds, jobs; docs/guide/python.md.
    #[arg(value_name = "SWEEP")]
    sweep: PathBuf,
    /// The file to write, a row for each task of each point: CSV, or Parquet (.parquet).
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// A folder that keeps each result: the same sweep later computes only what is missing.
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
    /// The scheduler of a Dask cluster whose workers compute, for example tcp://host:8786; by
    /// default the cores of this machine.
    #[arg(long, value_name = "ADDRESS")]
    scheduler: Option<String>,
    /// Print the first line alone.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArguments {
    /// The fleet file (TOML): streams, disks and a policy; docs/guide/fleets.md.
    #[arg(value_name = "FLEET")]
    fleet: PathBuf,
    /// The folder to create: a workload and a drive file for each disk, and plan.json.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Use as many disks as the largest margin needs, not the fewest disks.
    #[arg(long, conflicts_with = "before")]
    margin: bool,
    /// The folder of an earlier plan, which is changed with as few moves as the search finds.
    #[arg(long, value_name = "FOLDER")]
    before: Option<PathBuf>,
    /// Disks of the fleet that failed: the plan uses none of them.
    #[arg(long, value_name = "DISK,..", value_delimiter = ',')]
    failed: Vec<String>,
    /// Print the first line alone.
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the sweep.
pub(crate) fn sweep(arguments: &SweepArguments) -> Result<Answer, Failure> {
    let SweepArguments { sweep, output, store, scheduler, quiet } = arguments;
    let mut words: Vec<OsString> = vec!["sweep".into(), sweep.into()];
    words.extend(["--output".into(), output.into()]);
    words.extend(store.iter().flat_map(|store| ["--store".into(), store.into()]));
    words.extend(scheduler.iter().flat_map(|it| ["--scheduler".into(), it.into()]));
    words.extend(quiet.then(|| "--quiet".into()));
    run("sweep", &[PACKAGE, "pyarrow", "distributed"], words)
}

/// Places the streams.
pub(crate) fn place(arguments: &PlaceArguments) -> Result<Answer, Failure> {
    let PlaceArguments { fleet, output, margin, before, failed, quiet } = arguments;
    let mut words: Vec<OsString> = vec!["place".into(), fleet.into()];
    words.extend(["--output".into(), output.into()]);
    words.extend(margin.then(|| "--margin".into()));
    words.extend(before.iter().flat_map(|before| ["--before".into(), before.into()]));
    words.extend(failed.iter().flat_map(|disk| ["--failed".into(), disk.into()]));
    words.extend(quiet.then(|| "--quiet".into()));
    run("place", &[PACKAGE, "ortools"], words)
}

/// Replaces this process by the package's command. `extra` names the optional part of the package
/// that provides the `modules`.
fn run(extra: &str, modules: &[&str], words: Vec<OsString>) -> Result<Answer, Failure> {
    let python = std::env::var_os(INTERPRETER).unwrap_or_else(|| "python3".into());
    let shown = python.to_string_lossy().into_owned();
    let install = format!(
        "in Tidegate's sources: `make wheel && {shown} -m pip install \
         \"$(ls -t target/wheels/tidegate-*.whl | head -n 1)[{extra}]\"`"
    );
    let interpreter = || {
        let mut command = Command::new(&python);
        command.env(SAFE_PATH.0, SAFE_PATH.1);
        command
    };
    let probe = interpreter().args(["-c", PROBE]).args(modules).output();
    let probe = probe.map_err(|error| not_started(&shown, &error, &install))?;
    let missing = String::from_utf8_lossy(&probe.stdout).trim().to_owned();
    if !probe.status.success() {
        let said = String::from_utf8_lossy(&probe.stderr);
        let said = said.trim().lines().last().unwrap_or("no reason given").to_owned();
        return Err(Failure::input(
            format!("`{shown}` is no Python interpreter of today: {said}"),
            format!("name Python 3.11 or later by {INTERPRETER}"),
        ));
    }
    if !missing.is_empty() {
        let missing = missing.replace(' ', ", ");
        return Err(Failure::input(
            format!("`tidegate {extra}` runs the Python package, and `{shown}` lacks {missing}"),
            install,
        ));
    }
    let error = interpreter().args(["-m", "tidegate"]).args(words).exec();
    Err(not_started(&shown, &error, &install))
}

fn not_started(python: &str, error: &io::Error, install: &str) -> Failure {
    Failure::input(
        format!("cannot start `{python}`, which runs the Python package: {error}"),
        format!("install Python 3.11 or later, or name it by {INTERPRETER}; then, {install}"),
    )
}
