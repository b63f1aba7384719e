// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate profile` of a simulated drive: the tables that a drive file lacks, measured in
//! virtual time on what the file says the drive is made of.

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

use crate::arguments::ProfileArguments;
use crate::failure::Failure;
use crate::profile_output::Output;
use crate::show;
use crate::{input, interrupt, progress};

/// Of a drive of which only times are known: places do not matter to it.
const ANY_CAPACITY: Bytes = Bytes::from_kib(1 << 30);

/// How drive files end.
const EXTENSION: &str = ".drive.toml";

/// Whether the target is a simulated drive: a built-in one, or a drive file.
pub(crate) fn is_meant(target: &Path) -> bool {
    let name = target.as_os_str().to_string_lossy();
    tidegate_drive::builtin::is_name(&name) || name.ends_with(EXTENSION)
}

/// Measures it, and writes or prints its drive file with the table that was measured.
pub(crate) fn run(arguments: &ProfileArguments) -> Result<(), Failure> {
    if arguments.create.is_some() {
        return Err(Failure::input("a simulated drive is not created", "leave --create out"));
    }
    let file = input::drive_named(&arguments.target.to_string_lossy())?;
    // It may be added to: a simulated drive is not harmed by its file changing.
    let output = Output::prepare(arguments, Path::new(""))?;
    let params = params(arguments, &file)?;
    let (kind, mut drive) = drive_of(arguments, &file, params.seed)?;
    progress::print_measuring(&format!("{} as {}", file.name, kind.name()), &params);
    // Its pace is found on a drive of its own: one that has served is not as it was.
    let (_, mut other) = drive_of(arguments, &file, params.seed)?;
    let steps = tidegate_measure::plan_drive(&mut *other, capacity(&file), &params);
    let steps = steps.map_err(progress::profile_failure)?;
    if arguments.plan {
        show::report(&PlanReport::of(&steps), arguments.json);
        if !arguments.json {
            show::labelled(
                "Time",
                "is that of the drive; simulating it takes a small part of that",
            );
        }
        return Ok(());
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
        measured.warnings.push(Warning::PriorityIgnored);
    }
    if output.file.as_ref().is_some_and(OutputFile::is_added_to) {
        let identity = Identity { how: measured.file.identity.how.clone(), ..file.identity };
        measured.file.identity = identity;
        // What it is made of is known, and not to be replaced by what was seen of it.
        measured.file.mechanics = None;
        return output.publish(&measured.file, &measured);
    }
    let whole = merge::replaced(file, measured.file.clone());
    output.publish(&whole, &measured)
}

fn honours_priority(file: &DriveFile) -> bool {
    file.mechanics.as_ref().is_some_and(|mechanics| mechanics.queue.priority)
}

/// The drive from its parts, or as slow as its table of batches allows.
fn drive_of(
    arguments: &ProfileArguments,
    file: &DriveFile,
    seed: u64,
) -> Result<(DriveKind, Box<dyn Drive + Send>), Failure> {
    // Tables alone are not measured again unless asked: that returns the tables.
    let parts = file.parts().map_or(DriveKind::Mechanical, Parts::kind);
    let kind = arguments.model.map_or(parts, DriveKind::from);
    if kind != DriveKind::Pseudo {
        let drive =
            tidegate_drive::from_parts(kind, file, seed).map_err(|it| Failure::unusable(&it))?;
        return Ok((kind, drive));
    }
    let &[Kind { op, size }] = &arguments.kinds()[..] else {
        return Err(Failure::input(
            "--model pseudo serves one operation in one size",
            "name one --op and one --size",
        ));
    };
    let measured = tidegate_drive::measured_table(file, op, size).ok_or_else(|| {
        Failure::input(
            format!("`{}` has no table of batches for {}s of {size}", file.name, op.name()),
            "name a size that it has, or leave --model out",
        )
    })?;
    Ok((kind, Box::new(PseudoDisk::new(file.depth, measured.table.clone(), seed))))
}

/// Priority is measured where it is asked for by name, or means something to the drive.
fn experiments(arguments: &ProfileArguments, file: &DriveFile) -> Vec<Experiment> {
    let is_asked = !arguments.only.is_empty() || honours_priority(file);
    let mut all = arguments.experiments();
    all.retain(|it| is_asked || *it != Experiment::PRIORITY);
    // Nobody's data is lost; batches alone say nothing of flushes.
    let is_pseudo = arguments.model.map(DriveKind::from) == Some(DriveKind::Pseudo);
    all.retain(|it| !is_pseudo || *it != Experiment::FLUSH);
    if arguments.only.is_empty() && !is_pseudo && !all.contains(&Experiment::FLUSH) {
        all.push(Experiment::FLUSH);
    }
    all
}

/// What must be the same for samples to belong together: the drive to the last figure, what
/// stands for it, and how deep it is measured.
fn same(file: &DriveFile, kind: DriveKind, params: &ProfileParams) -> String {
    // Not of its text: a drive file that is added to stays the drive that it is.
    let hash = tidegate_device::facts::hashed(&file.parts_text());
    let tables = tidegate_device::facts::hashed(&format!("{:?}", file.batch));
    let of_tables = if kind == DriveKind::Pseudo { tables } else { String::new() };
    format!("{} as {} {hash}{of_tables}, 1 to {} at once", file.name, kind.name(), params.depth)
}

fn params(arguments: &ProfileArguments, file: &DriveFile) -> Result<ProfileParams, Failure> {
    let params = ProfileParams {
        experiments: experiments(arguments, file),
        kinds: arguments.kinds(),
        depth: arguments.depth.unwrap_or(file.depth.min(ProfileParams::DEPTH)),
        allows_writes: true,
        samples: arguments.samples.count(),
        seed: arguments.seed.unwrap_or(1),
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
