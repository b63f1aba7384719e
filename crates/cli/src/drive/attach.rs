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

use tidegate_attach::record::ROOT;
use tidegate_attach::{AttachError, AttachParams, Attachment, AttachmentFolder, DetachError};
use tidegate_report::figures;

use super::arguments::AttachArguments;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::show::{self, outln};
use crate::{input, interrupt};

/// The interval between checks for a stop request.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs the command.
pub(crate) fn attach(arguments: &AttachArguments) -> Result<Answer, Failure> {
    // Errors in the drive file are reported here, even for a background process.
    let file = input::drive_named(&arguments.drive)?;
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
    introduce(&attachment, arguments);
    let is_served = serve(&attachment, &stop);
    outln!();
    let statistics = attachment.detach().map_err(|error| detach_failure(&error))?;
    if let Some(statistics) = &statistics {
        outln!("{statistics}");
    }
    if is_served && statistics.is_some() {
        return Ok(Answer::Yes);
    }
    Err(Failure::environment(&Stopped))
}

/// The drive stopped, although this process received no stop request.
#[derive(Debug, thiserror::Error)]
#[error("the drive stopped: another process unmounted or cut off its file system")]
struct Stopped;

fn introduce(attachment: &Attachment, arguments: &AttachArguments) {
    show::labelled("Device", &attachment.device().display().to_string());
    show::labelled("Drive", &arguments.drive);
    show::labelled("Size", &figures::decimal(attachment.size()));
    show::labelled("At once", &format!("{} requests", attachment.depth()));
    let store = arguments.store.as_deref().map(|path| path.display().to_string());
    show::labelled("Data", &store.unwrap_or_else(|| "in memory, lost at the end".to_owned()));
    show::labelled("Host", &attachment.granted().to_string());
    let name = attachment.name();
    show::labelled("Stop", &format!("Ctrl-C, or `tidegate drive detach {name}`"));
}

/// Waits for a stop request and until no process has the device open. Returns whether the drive
/// served requests until then.
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
    // Its own process group: Ctrl-C here does not reach it.
    let mut child = command.process_group(0).spawn().map_err(failed)?;
    wait_for_device(&mut child).map_err(failed)?;
    let text = fs::read_to_string(&log).unwrap_or_default();
    let Some(status) = child.try_wait().map_err(failed)? else {
        outln!("{}", text.trim_end());
        return Ok(Answer::Yes);
    };
    // Its output is the whole message, and its exit code gives the kind of failure.
    eprintln!("{}", text.trim_end());
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
    option("--", Some(OsString::from(&arguments.drive)));
    list
}

/// Waits until the background process recorded its device and printed its head, or ended.
fn wait_for_device(child: &mut Child) -> std::io::Result<()> {
    let pid = child.id();
    let is_its = |place: &AttachmentFolder| {
        let record = place.record();
        record.is_some_and(|record| record.pid == pid && record.device.is_some())
    };
    while !AttachmentFolder::all(Path::new(ROOT))?.iter().any(is_its) {
        if child.try_wait()?.is_some() {
            break;
        }
        sleep(LOOK_EVERY);
    }
    // It prints its head right after that.
    sleep(LOOK_EVERY);
    Ok(())
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

/// Makes the failure for a failed detach: exit code 2 if the drive is in use, because the user can
/// free it; otherwise a failure of the environment.
pub(super) fn detach_failure(error: &DetachError) -> Failure {
    match error {
        DetachError::InUse { .. } => Failure::unusable(error),
        _ => Failure::environment(error),
    }
}
