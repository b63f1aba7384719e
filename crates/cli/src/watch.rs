// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate watch`: shows the requests that the kernel serves on a disk, and writes a workload
//! file that describes them.

mod log;
mod metrics_file;
mod proof;
#[cfg(test)]
mod tests;
mod view;

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration as HostDuration;

use std::sync::atomic::Ordering;

use tidegate_commands::quoted;
use tidegate_model::Duration;
use tidegate_platform::{NewFile, Scheduling, privileges};
use tidegate_report::watch::{LearnReport, WatchReport, Watched};
use tidegate_report::{ResultCommand, ResultFile};
use tidegate_tune::Disk;
use tidegate_watch::{FileHead, Learnt, Session, TracefsError, workload_text};

use crate::answer::Answer;
use crate::arguments::{DiskArguments, WatchArguments};
use crate::distinct_files::check_distinct;
use crate::failure::Failure;
use crate::interrupt::Patience;
use crate::live;
use crate::result::Destination;
use crate::{show, tune};

use log::WatchLog;
use metrics_file::MetricsFile;
use proof::Proof;
use view::Live;

/// The name of the drive file in a learnt workload file, by default.
const DRIVE: &str = "disk.drive.toml";

/// The interval between two reads of the kernel's buffers.
const PAUSE: HostDuration = HostDuration::from_millis(100);

/// Runs the command.
pub(crate) fn watch(arguments: &WatchArguments) -> Result<Answer, Failure> {
    check_distinct(&[
        ("-o", arguments.output.as_deref()),
        ("--metrics", arguments.metrics.as_deref()),
        ("--result", arguments.result.as_deref()),
        ("--log", arguments.log.log.as_deref()),
    ])?;
    let disk = find(&arguments.device)?;
    let devices = disk.numbers().ok_or_else(|| {
        Failure::input(
            format!("sysfs shows no number of `{}`", disk.name()),
            "is sysfs mounted at /sys?",
        )
    })?;
    let output = arguments.output.as_deref().map(NewFile::prepare).transpose();
    let output = output.map_err(|fault| Failure::of_file(&fault))?;
    let metrics = MetricsFile::of(arguments)?;
    let result = Destination::prepare(arguments.result.as_deref())?;
    let path = arguments.workload.as_deref();
    let proof = path.map(|path| Proof::read(path, arguments.drive.clone(), &disk)).transpose()?;
    let declared = proof.as_ref().map(Proof::declared);
    let limits = proof.as_ref().map(Proof::limits);
    // A signal must not end the process before the trace is removed.
    let patience = Patience::begin()?;
    // The watch must not delay the programs that it watches. A sandbox may refuse this; the watch
    // then runs at ordinary priority, and lost events are still reported.
    let _ = Scheduling::other_with_shortest_slice().apply(None);
    let _ = Scheduling::idle().apply(None);
    let session = Session::begin(&devices, declared, limits.as_ref(), output.is_some());
    let session = session.map_err(tracefs_failure)?;
    let log = WatchLog::begin(&arguments.log)?;
    let session = if log.is_some() { session.keeping_served() } else { session };
    let is_live = live::is_possible() && arguments.duration.is_none() && !arguments.learn;
    let is_live = is_live && arguments.form.is_full();
    let mut watching = Watching { session, device: disk.name(), metrics, log, is_live };
    let mut is_plotted = arguments.plot;
    if is_live {
        if let Some(file) = &mut watching.metrics {
            file.be_quiet();
        }
        let mut view = Live::new(&mut watching, proof.as_ref(), is_plotted);
        live::show(&mut view)?;
        is_plotted |= view.is_plotted();
    } else {
        wait(&mut watching, arguments, &patience)?;
    }
    let (session, written) = watching.finish()?;
    if let Some(output) = output {
        let answer = learn(&session, &disk, &output, arguments)?;
        return written.map(|()| answer);
    }
    let report = report(&session, disk.name(), proof.as_ref());
    show::report_in(&report, arguments.form);
    if is_plotted {
        show::page(|page| report.write_plots(page));
    }
    // The result is written even if the log or the metrics could not be.
    result.write(|| result_file(&report, &session, proof.as_ref()))?;
    written?;
    Ok(Answer::of(report.is_kept()))
}

/// A watch in progress, and the file with its metrics.
struct Watching<'a> {
    session: Session,
    device: &'a str,
    metrics: Option<MetricsFile>,
    log: Option<WatchLog>,
    /// Whether a live view is shown, which messages would disturb.
    is_live: bool,
}

impl Watching<'_> {
    /// Processes the events up to now. It must be called ten times a second.
    fn poll(&mut self) -> Result<(), Failure> {
        self.session.poll().map_err(tracefs_failure)?;
        if let Some(log) = &mut self.log {
            let fault = log.take(&mut self.session);
            // The live view shows the fault below its tables.
            if let Some(fault) = fault.filter(|_| !self.is_live) {
                show::complain(fault);
            }
        }
        if let Some(file) = &mut self.metrics
            && file.is_due()
        {
            file.write(&self.session, self.device);
        }
        Ok(())
    }

    /// Ends the watch; also returns whether the log and the last metrics were written.
    fn finish(self) -> Result<(Session, Result<(), Failure>), Failure> {
        let Self { mut session, device, metrics, log, .. } = self;
        // On a busy processor, the rest would take minutes at the lowest priority.
        let _ = Scheduling::other().apply(None);
        session.finish().map_err(tracefs_failure)?;
        let finish = |mut log: WatchLog| {
            // `finish` returns the fault too.
            let _ = log.take(&mut session);
            log.finish()
        };
        let logged = log.map_or(Ok(()), finish);
        let last = metrics.map_or(Ok(()), |file| file.finish(&session, device));
        Ok((session, logged.and(last)))
    }
}

fn find(device: &str) -> Result<Disk, Failure> {
    let disk = tune::find(&DiskArguments { device: device.to_owned(), root: "/".into() })?;
    let below = disk.slaves();
    if below.is_empty() && disk.has_requests() {
        return Ok(disk);
    }
    if below.is_empty() {
        return Err(Failure::input(
            format!("the driver of `{}` makes no requests that could be watched", disk.name()),
            "watch the disk behind it; `lsblk` lists the block devices of a machine",
        ));
    }
    Err(Failure::input(
        format!(
            "`{}` is built on {}, and only a disk has requests to watch",
            disk.name(),
            below.join(", ")
        ),
        format!("tidegate watch {}", below[0]),
    ))
}

/// Watches for the requested time, or until a signal arrives. A signal ends the watch but not the
/// process, because the kernel's trace must be removed.
fn wait(
    watching: &mut Watching<'_>,
    arguments: &WatchArguments,
    patience: &Patience,
) -> Result<(), Failure> {
    if arguments.duration.is_none() && arguments.form.is_full() {
        show::say("Watching", format!("{}; Ctrl-C ends it", arguments.device));
    }
    let most = arguments.duration.unwrap_or(Duration::MAX);
    while watching.session.elapsed() < most && !patience.is_asked.load(Ordering::Relaxed) {
        let left = most.ns().saturating_sub(watching.session.elapsed().ns());
        thread::sleep(HostDuration::from_nanos(left).min(PAUSE));
        watching.poll()?;
    }
    Ok(())
}

/// Returns the report on everything seen so far.
fn report<'a>(session: &'a Session, device: &'a str, proof: Option<&'a Proof>) -> WatchReport<'a> {
    WatchReport::of(Watched {
        device,
        seen: session.seen(),
        assessment: proof.map(Proof::assessment),
        tells_class: session.tells_class(),
        drift: proof.and_then(Proof::drift),
    })
}

/// Returns the report with its distributions and, with a workload, the premises of its proof.
fn result_file(report: &WatchReport<'_>, session: &Session, proof: Option<&Proof>) -> ResultFile {
    let runs = vec![report.record(session.seen())];
    let file = ResultFile::of(ResultCommand::Watch, report, runs);
    match proof {
        Some(proof) => proof.complete(file),
        None => file,
    }
}

/// Writes the workload file that the watch has learnt.
fn learn(
    session: &Session,
    disk: &Disk,
    output: &NewFile,
    arguments: &WatchArguments,
) -> Result<Answer, Failure> {
    let learner = session.watcher().learner().expect("the session learns");
    let learnt = learner.learnt(disk.sectors().unwrap_or(0));
    let seen = session.seen();
    let head = FileHead {
        device: &arguments.device,
        drive: arguments.drive.as_deref().unwrap_or(DRIVE),
        duration: seen.duration,
        lost: seen.lost,
        left_out: learner.left_out(),
    };
    let Some(text) = workload_text(head, &learnt) else {
        let nothing =
            format!("no request reached {} in that time: nothing was written", disk.name());
        return Err(Failure::incomplete(nothing));
    };
    output.write(&text).map_err(|fault| Failure::of_file(&fault))?;
    let name = output.name();
    let to_do = match arguments.drive {
        Some(_) => format!("tidegate check {}", quoted(&name)),
        None => profile_command(&arguments.device, &learnt),
    };
    let report = LearnReport::of((disk.name(), &name), (seen.duration, seen.lost), &learnt, to_do);
    show::report_in(&report, arguments.form);
    Ok(Answer::Yes)
}

/// Returns the command that measures the tables that the learnt file needs. It excludes writes,
/// because measuring them destroys the data of the disk, which is in use; the report says so.
fn profile_command(device: &str, learnt: &[Learnt]) -> String {
    let sizes: BTreeSet<_> = learnt.iter().map(|it| it.size_max).collect();
    let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
    let device = quoted(device);
    format!("tidegate profile {device} --size {} --depth 8 -o {DRIVE}", sizes.join(","))
}

/// Converts an error of tracefs, and adds advice.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn tracefs_failure(error: TracefsError) -> Failure {
    match error {
        TracefsError::NotMounted => Failure::input(
            error.to_string(),
            "mount it as root with `mount -t tracefs nodev /sys/kernel/tracing`; in a container, watch on the host",
        ),
        TracefsError::NotPermitted { .. } => {
            Failure::input(error.to_string(), privileges::advice("run it as root, with `sudo`"))
        }
        _ => Failure::environment(&error),
    }
}
