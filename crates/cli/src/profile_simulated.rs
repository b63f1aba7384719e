// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate profile` of a simulated drive: measures the tables that a drive file lacks, in virtual
//! time, on a drive with the parts that the file describes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tidegate_drive::{Drive, PseudoDisk};
use tidegate_measure::{
    Experiment, Journal, Kind, Origin, OutputFile, Profile, ProfileError, ProfileParams, Progress,
    Step, TimeLeft, Warning, merge, origin,
};
use tidegate_model::drive_file::{Identity, Parts};
use tidegate_model::{Bytes, DriveFile, DriveKind, Duration};
use tidegate_report::PlanReport;

use crate::answer::Answer;
use crate::arguments::ProfileArguments;
use crate::failure::Failure;
use crate::profile_output::Output;
use crate::show;
use crate::{input, interrupt, progress};

/// The capacity of a drive of which only times are known: positions do not matter to it.
const ANY_CAPACITY: Bytes = Bytes::from_kib(1 << 30);

/// The ending of drive file names.
const EXTENSION: &str = ".drive.toml";

/// Returns whether the target is a simulated drive: a built-in one, or a drive file.
pub(crate) fn is_meant(target: &Path) -> bool {
    let name = target.as_os_str().to_string_lossy();
    tidegate_drive::builtin::is_name(&name) || name.ends_with(EXTENSION)
}

/// Measures the drive, and writes or prints its drive file with the measured tables.
pub(crate) fn run(arguments: &ProfileArguments) -> Result<Answer, Failure> {
    if arguments.create.is_some() {
        return Err(Failure::input(
            "--create does not apply to a simulated drive",
            "leave --create out",
        ));
    }
    let file = input::drive_named(&arguments.target.to_string_lossy())?;
    // The drive file itself can be the output: changing it does not harm a simulated drive.
    let output = Output::prepare(arguments, Path::new(""))?;
    let params = params(arguments, &file)?;
    let (kind, mut drive) = drive_of(arguments, &file, params.seed)?;
    progress::print_measuring(&format!("{} as {}", file.name, kind.name()), &params);
    // The pace is measured on another drive, because serving requests changes a drive's state.
    let (_, mut other) = drive_of(arguments, &file, params.seed)?;
    let steps = tidegate_measure::plan_drive(&mut *other, capacity(&file), &params);
    let steps = steps.map_err(progress::profile_failure)?;
    if arguments.plan {
        show::report(&PlanReport::of(&steps), arguments.json);
        if !arguments.json {
            show::labelled("Time", "is the drive's time; simulating it takes much less");
        }
        return Ok(Answer::Yes);
    }
    let same = same(&file, kind, &params);
    let file = DriveFile { identity: origin::simulated(file.identity.clone()), ..file };
    let origin = Origin::of(&file.identity);
    let mut journal = output.journal((&file.identity, origin), &same)?;
    let interrupted = interrupt::flag(output.kept())?;
    let followers = (&*interrupted, journal.as_mut());
    let measured = measure(arguments, &file, &mut *drive, &params, steps, followers);
    let mut measured = output.after(measured)?;
    if !measured.file.priority.is_empty() && !honours_priority(&file) {
        measured.warn(Warning::PriorityIgnored);
    }
    if output.file.as_ref().is_some_and(OutputFile::is_added_to) {
        let identity = Identity { how: measured.file.identity.how.clone(), ..file.identity };
        measured.file.identity = identity;
        // The file describes the parts; the observed mechanics must not replace them.
        measured.file.mechanics = None;
        output.publish(&measured.file, &measured)?;
    } else {
        let whole = merge::replaced(file, measured.file.clone());
        output.publish(&whole, &measured)?;
    }
    Ok(Answer::of(!measured.is_cancelled))
}

fn honours_priority(file: &DriveFile) -> bool {
    file.mechanics.as_ref().is_some_and(|mechanics| mechanics.queue.priority)
}

/// Builds the drive from its parts, or as slow as its batch table allows.
fn drive_of(
    arguments: &ProfileArguments,
    file: &DriveFile,
    seed: u64,
) -> Result<(DriveKind, Box<dyn Drive + Send>), Failure> {
    // A drive that has only tables is measured only on request, because measuring returns the same
    // tables.
    let parts = file.parts().map_or(DriveKind::Mechanical, Parts::kind);
    let kind = arguments.model.unwrap_or(parts);
    if !kind.takes_longest_times() {
        let drive =
            tidegate_drive::from_parts(kind, file, seed).map_err(|it| Failure::unusable(&it))?;
        return Ok((kind, drive));
    }
    let &[Kind { op, size }] = &arguments.kinds()[..] else {
        return Err(Failure::input(
            "--model pseudo serves only one operation in one size",
            "give one --op and one --size",
        ));
    };
    let measured = tidegate_drive::measured_table(file, op, size).ok_or_else(|| {
        Failure::input(
            format!("`{}` has no batch table for {}s of {size}", file.name, op.name()),
            "give a size that it has, or leave --model out",
        )
    })?;
    Ok((kind, Box::new(PseudoDisk::new(file.depth, measured.table.clone(), seed))))
}

/// Returns the experiments; priority is included if it is named, or if the drive honours it.
fn experiments(arguments: &ProfileArguments, file: &DriveFile) -> Vec<Experiment> {
    let is_asked = !arguments.only.is_empty() || honours_priority(file);
    let mut all = arguments.experiments();
    let of_priority = [Experiment::PRIORITY, Experiment::PRIORITY_PLACES];
    all.retain(|it| is_asked || !of_priority.contains(it));
    // Flushes destroy no data here, but a drive with batch tables only has no flush times.
    let is_pseudo = arguments.model.is_some_and(DriveKind::takes_longest_times);
    all.retain(|it| !is_pseudo || *it != Experiment::FLUSH);
    if arguments.only.is_empty() && !is_pseudo && !all.contains(&Experiment::FLUSH) {
        all.push(Experiment::FLUSH);
    }
    all
}

/// Returns what samples of one measurement share: the exact drive, its model, and the depth.
fn same(file: &DriveFile, kind: DriveKind, params: &ProfileParams) -> String {
    // The hash leaves the tables out: a drive file with added tables describes the same drive.
    let hash = tidegate_device::facts::hashed(&file.parts_text());
    let tables = tidegate_device::facts::hashed(&format!("{:?}", file.batch));
    let of_tables = if kind.takes_longest_times() { tables } else { String::new() };
    format!("{} as {} {hash}{of_tables}, 1 to {} at once", file.name, kind.name(), params.depth)
}

fn params(arguments: &ProfileArguments, file: &DriveFile) -> Result<ProfileParams, Failure> {
    let params = ProfileParams {
        experiments: experiments(arguments, file),
        kinds: arguments.kinds(),
        depth: arguments.depth.unwrap_or(file.depth.min(ProfileParams::DEPTH)),
        allows_writes: true,
        samples: arguments.samples.count(),
        is_quick: arguments.samples.quick,
        seed: arguments.seed.unwrap_or(1),
        // The simulated disk is made of exactly these.
        mechanics: file.mechanics.clone(),
        ..ProfileParams::new(file.name.as_str(), &tidegate_device::DeviceFacts::default())
    };
    if params.experiments.is_empty() {
        return Err(Failure::input(
            "a pseudo drive has no cache to flush",
            "leave --model out: the drive is then made from its parts",
        ));
    }
    if params.depth > file.depth {
        return Err(Failure::input(
            format!("`{}` accepts {} requests, not {}", file.name, file.depth, params.depth),
            format!("ask for at most --depth {}", file.depth),
        ));
    }
    Ok(params)
}

fn capacity(file: &DriveFile) -> Bytes {
    file.capacity().unwrap_or(ANY_CAPACITY)
}

fn measure(
    arguments: &ProfileArguments,
    file: &DriveFile,
    drive: &mut dyn Drive,
    params: &ProfileParams,
    steps: Vec<Step>,
    (interrupted, journal): (&AtomicBool, Option<&mut Journal>),
) -> Result<Profile, ProfileError> {
    let mut left = TimeLeft::of(steps);
    let bar = progress::bar("trials");
    let begun = Instant::now();
    let progress = |progress: Progress| {
        progress::show_progress(&bar, progress, &mut left);
        let is_over =
            |limit: Duration| begun.elapsed() >= std::time::Duration::from_nanos(limit.ns());
        if arguments.time_limit.is_some_and(is_over) {
            interrupted.store(true, Ordering::Relaxed);
        }
    };
    let (model, capacity) = (&file.name, capacity(file));
    let measured = tidegate_measure::profile_drive(
        drive,
        model,
        capacity,
        params,
        progress,
        interrupted,
        journal,
    );
    bar.finish_and_clear();
    measured
}
