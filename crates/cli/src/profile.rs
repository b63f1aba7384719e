// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate profile`: measures a device and writes a drive file.

use std::sync::atomic::AtomicBool;

use rustix::io::Errno;
use tidegate_device::{Access, DeviceFacts, OpenError, Target};
use tidegate_measure::{Experiment, Measurable as _, ProfileParams};
use tidegate_model::{Bytes, DriveFile, did_you_mean};
use tidegate_platform::{realtime, text_file};
use tidegate_report::PlanReport;

use crate::answer::Answer;
use crate::arguments::ProfileArguments;
use crate::command_line;
use crate::failure::Failure;
use crate::made_target::MadeTarget;
use crate::measurement::Measurement;
use crate::profile_output::Output;
use crate::progress::{bar_of_bytes, print_measuring, profile_failure, seed_of_now};
use crate::{interrupt, profile_simulated, show};

/// Runs the command.
pub(crate) fn profile(arguments: &ProfileArguments) -> Result<Answer, Failure> {
    if profile_simulated::is_meant(&arguments.target) {
        return profile_simulated::run(arguments);
    }
    refuse_early(arguments)?;
    let output = Output::prepare(arguments, &arguments.target)?;
    let interrupted = interrupt::flag(output.kept())?;
    let (mut target, mut made) = open_target(arguments, &interrupted)?;
    let mut params = params(arguments, &target);
    let file = output.file.as_ref();
    params.mechanics = file.and_then(|file| file.known_mechanics(&params.experiments));
    if !arguments.quiet {
        print_head(&target, &params);
    }
    let steps = target.plan(&params).map_err(profile_failure)?;
    if arguments.plan {
        show::report_in(&PlanReport::of(&steps), arguments.form());
        return Ok(Answer::Yes);
    }
    // A target file that was made for the measurement is kept once something was measured on it.
    let mut keep = || made.take().map_or((), MadeTarget::keep);
    let measurement = Measurement { arguments, params, steps, output, interrupted: &interrupted };
    measurement.make(&mut target, &mut keep)
}

/// Refuses arguments that are wrong whatever the target is.
fn refuse_early(arguments: &ProfileArguments) -> Result<(), Failure> {
    if arguments.model.is_some() {
        return Err(Failure::input(
            "--model applies only to simulated drives",
            "leave --model out",
        ));
    }
    // A plan writes nothing, so it needs no permission.
    if arguments.writes() && !arguments.allow_writes && !arguments.plan {
        let command = command_line::changed(&[], &["--allow-writes"]);
        return Err(Failure::input(
            "measuring writes destroys the data on the target",
            format!("if the data can be lost: `{command}`"),
        ));
    }
    let is_drive_file = |text: String| DriveFile::parse(&text).is_ok();
    if text_file::read(&arguments.target).is_ok_and(is_drive_file) {
        return Err(Failure::input(
            format!("{} is a drive file, not a disk", arguments.target.display()),
            "to measure the drive that it describes, rename it to end in .drive.toml",
        ));
    }
    let has_batches = arguments.experiments().contains(&Experiment::BATCH);
    if !has_batches && !arguments.add && !arguments.plan {
        return Err(Failure::input(
            "a drive file needs a batch table",
            "put batch into --only, or extend an existing drive file with --add",
        ));
    }
    arguments.create.map_or(Ok(()), |size| check_before_making(arguments, size))
}

/// Refuses a measurement that would certainly fail, before the target file is created.
fn check_before_making(arguments: &ProfileArguments, capacity: Bytes) -> Result<(), Failure> {
    let params = ProfileParams {
        kinds: arguments.kinds(),
        // By default the device determines the depth, which is not known yet.
        depth: arguments.depth.unwrap_or(1),
        samples: arguments.samples.count(),
        ..ProfileParams::new("", &DeviceFacts::default())
    };
    params.check(capacity).map_err(profile_failure)
}

/// Opens the target, and returns the guard that removes the file if this command created it.
fn open_target(
    arguments: &ProfileArguments,
    interrupted: &AtomicBool,
) -> Result<(Target, Option<MadeTarget>), Failure> {
    let path = &arguments.target;
    let is_written = arguments.writes() && !arguments.plan;
    let access = if is_written { Access::ReadWrite } else { Access::ReadOnly };
    let Some(size) = arguments.create else {
        let target = Target::open(path, access).map_err(|error| not_opened(&error))?;
        return Ok((target, None));
    };
    if !arguments.quiet {
        show::say("Creating", format!("{}, {size} of random data", path.display()));
    }
    let bar = bar_of_bytes(size);
    let target =
        Target::create(path, size, access, |written| bar.set_position(written.get()), interrupted);
    bar.finish_and_clear();
    let target = target.map_err(|error| Failure::unusable(&error))?;
    let made = MadeTarget::new(path, &target);
    Ok((target, Some(made)))
}

fn not_opened(error: &OpenError) -> Failure {
    let OpenError::Refused { path, source: Errno::NOENT } = error else {
        return Failure::unusable(error);
    };
    let names = tidegate_drive::builtin::names();
    let help = match did_you_mean::closest(&path.to_string_lossy(), names) {
        Some(meant) => format!("did you mean the simulated drive `{meant}`?"),
        None => "name a block device or a file; with --create 1GiB, the command makes the file \
                 first"
            .to_owned(),
    };
    Failure::input(error.to_string(), help)
}

fn params(arguments: &ProfileArguments, target: &Target) -> ProfileParams {
    let facts = target.facts();
    let name = arguments.name.clone().or_else(|| facts.model.clone()).unwrap_or_else(|| {
        let path = facts.path.file_name().unwrap_or(facts.path.as_os_str());
        path.to_string_lossy().into_owned()
    });
    ProfileParams {
        // A plan writes nothing, so the target need not allow writes.
        allows_writes: arguments.allow_writes || arguments.plan && arguments.writes(),
        seed: arguments.seed.unwrap_or_else(seed_of_now),
        real_time: Some(realtime::request(realtime::PRIORITY)),
        ..arguments.params(ProfileParams::new(name, facts), arguments.experiments())
    }
}

fn print_head(target: &Target, params: &ProfileParams) {
    let facts = target.facts();
    let what =
        format!("{}, {}, aligned to {}", facts.path.display(), target.size(), target.alignment());
    print_measuring(&what, params);
    if let Some(real_time) = &params.real_time {
        show::say("Host", real_time);
    }
}
