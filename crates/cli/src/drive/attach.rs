// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive attach`: attaches a simulated drive as a block device until a stop request.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tidegate_attach::record::ROOT;
use tidegate_attach::{AttachError, AttachParams, Attachment, DetachError, Statistics};
use tidegate_commands::NamedDrive;
use tidegate_report::Report;
use tidegate_report::drive::{AttachReport, AttachmentStatistics};

use super::arguments::AttachArguments;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::interrupt;
use crate::show::{self, outln};

/// The interval between checks for a stop request.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs the command.
pub(crate) fn attach(arguments: &AttachArguments) -> Result<Answer, Failure> {
    // Errors in the drive file are reported here, even for a background process.
    let file = NamedDrive::new(&arguments.drive)?.file;
    if arguments.background {
        return start_in_background(arguments);
    }
    let kept = "the device is still there; `tidegate drive detach --all` cleans up";
    let stop = interrupt::flag(Some(kept.to_owned()))?;
    let params = AttachParams {
        drive: &file,
        name: arguments.name.as_deref(),
        size: arguments.size,
        store: arguments.store.as_deref(),
        log: arguments.log.as_deref(),
        root: Path::new(ROOT),
    };
    let attachment = Attachment::new(&params).map_err(|error| attach_failure(&error))?;
    print(&attached(&attachment, arguments), arguments);
    let is_served = serve(&attachment, &stop);
    let statistics = attachment.detach().map_err(|error| detach_failure(&error))?;
    if let Some(statistics) = &statistics {
        if arguments.log.is_none() && arguments.form.is_full() {
            outln!();
        }
        print(&reported(statistics), arguments);
    }
    if is_served && statistics.is_some() {
        return Ok(Answer::Yes);
    }
    Err(Failure::environment(&Stopped))
}

/// The error if the drive stopped although this process received no stop request.
#[derive(Debug, thiserror::Error)]
#[error("the drive stopped: another process unmounted or cut off its file system")]
struct Stopped;

fn attached(attachment: &Attachment, arguments: &AttachArguments) -> AttachReport {
    let granted = attachment.granted();
    AttachReport {
        device: attachment.device().display().to_string(),
        name: attachment.name(),
        drive: arguments.drive.clone(),
        size_bytes: attachment.size().get(),
        depth: attachment.depth(),
        store: arguments.store.as_deref().map(|path| path.display().to_string()),
        real_time_granted: granted.is_complete(),
        real_time: granted.to_string(),
    }
}

fn reported(statistics: &Statistics) -> AttachmentStatistics {
    AttachmentStatistics {
        reads: statistics.reads,
        read_bytes: statistics.read_bytes,
        writes: statistics.writes,
        written_bytes: statistics.written_bytes,
        flushes: statistics.flushes,
        response_ns_max: statistics.response_highest.ns(),
        lateness_ns_max: statistics.lateness_highest.ns(),
        outstanding_max: statistics.outstanding_highest as u64,
        waiting_max: statistics.waiting_highest as u64,
    }
}

/// Prints a report; a background process writes it to its log, on one line, where [`logged`] finds
/// it.
fn print(report: &impl Report, arguments: &AttachArguments) {
    if arguments.log.is_some() {
        outln!("{}", serde_json::to_string(report).expect("a report is plain data"));
    } else {
        show::report_in(report, arguments.form);
    }
}

/// Returns the report that a background process wrote to its log.
pub(super) fn logged<T: DeserializeOwned>(log: &str) -> Option<T> {
    log.lines().rev().find_map(|line| serde_json::from_str(line).ok())
}

/// Waits for a stop request, then until no process has the device open. Returns whether the drive
/// still served requests.
fn serve(attachment: &Attachment, stop: &AtomicBool) -> bool {
    let mut is_waiting = false;
    while attachment.is_served() {
        if stop.load(Ordering::Relaxed) {
            let holders = attachment.holders();
            if holders.is_empty() {
                return true;
            }
            if !is_waiting {
                show::say("Waiting", format!("{} is in use: {holders}", attachment.name()));
                is_waiting = true;
            }
        }
        sleep(LOOK_EVERY);
    }
    false
}

/// Starts this program again without a terminal, and waits until the device exists.
fn start_in_background(arguments: &AttachArguments) -> Result<Answer, Failure> {
    let failed = |error: std::io::Error| Failure::environment(&error);
    let program = std::env::current_exe().map_err(failed)?;
    let log = make_log()?;
    let output = File::options().append(true).open(&log).map_err(failed)?;
    let mut command = Command::new(program);
    command.args(arguments_of(arguments, &log)).stdin(Stdio::null());
    command.stdout(output.try_clone().map_err(failed)?).stderr(output);
    // The process gets its own process group, so Ctrl-C does not reach it.
    let mut child = command.process_group(0).spawn().map_err(failed)?;
    if let Some(attached) = wait_for_device(&mut child, &log).map_err(failed)? {
        show::report_in(&attached, arguments.form);
        return Ok(Answer::Yes);
    }
    // The process's output is the whole message, and its exit code gives the kind of failure.
    let status = child.wait().map_err(failed)?;
    eprintln!("{}", fs::read_to_string(&log).unwrap_or_default().trim_end());
    let _ = fs::remove_file(&log);
    std::process::exit(status.code().unwrap_or(3));
}

/// Creates a log file for the background process, beside the records.
fn make_log() -> Result<PathBuf, Failure> {
    let folder = Path::new(ROOT).parent().unwrap_or(Path::new("/run"));
    let make = || {
        fs::create_dir_all(folder)?;
        let made = tempfile::Builder::new().prefix("attach-").suffix(".log").tempfile_in(folder)?;
        Ok(made.into_temp_path().keep()?)
    };
    make().map_err(|error: std::io::Error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => attach_failure(&AttachError::NotRoot),
        _ => Failure::environment(&error),
    })
}

fn arguments_of(arguments: &AttachArguments, log: &Path) -> Vec<OsString> {
    let mut list: Vec<OsString> = vec!["drive".into(), "attach".into()];
    let mut option = |name: &str, value: Option<OsString>| {
        if let Some(value) = value {
            list.extend([name.into(), value]);
        }
    };
    option("--name", arguments.name.as_ref().map(OsString::from));
    option("--size", arguments.size.map(|size| format!("{}B", size.get()).into()));
    option("--store", arguments.store.as_ref().map(OsString::from));
    option("--log", Some(log.into()));
    // The background process prints its errors in the form that the user chose here.
    list.extend(arguments.form.json.then(|| "--json".into()));
    list.extend(["--".into(), OsString::from(&arguments.drive)]);
    list
}

/// Waits until the background process reports its device; `None` if it ended before.
fn wait_for_device(child: &mut Child, log: &Path) -> std::io::Result<Option<AttachReport>> {
    loop {
        let is_over = child.try_wait()?.is_some();
        let attached = logged(&fs::read_to_string(log)?);
        if attached.is_some() || is_over {
            return Ok(attached.filter(|_| !is_over));
        }
        sleep(LOOK_EVERY);
    }
}

fn attach_failure(error: &AttachError) -> Failure {
    match error {
        AttachError::NotSectors { .. }
        | AttachError::TooLarge { .. }
        | AttachError::NameTaken { .. }
        | AttachError::Store(_)
        | AttachError::StoreInUse { .. }
        | AttachError::Drive(_) => Failure::unusable(error),
        _ => Failure::environment(error),
    }
}

/// Converts a failed detach: exit code 2 if the drive is in use, because the user can free it;
/// otherwise a failure of the environment.
pub(super) fn detach_failure(error: &DetachError) -> Failure {
    match error {
        DetachError::InUse { .. } => Failure::unusable(error),
        _ => Failure::environment(error),
    }
}
