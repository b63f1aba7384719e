// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate profile`: measure the device, write a drive file.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use device::{Access, DeviceFacts, RingError, Target, realtime};
use indicatif::{ProgressBar, ProgressStyle};
use measure::{Experiment, Profile, ProfileError, ProfileParams, Progress, StartTimes, Warning};
use model::{Bytes, DriveFile, Op};

use crate::Answer;
use crate::arguments::ProfileArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::made_target::MadeTarget;
use crate::output_file::OutputFile;
use crate::show;
use crate::{profile_simulated, profile_tables};

/// Runs the command.
pub(crate) fn profile(arguments: &ProfileArguments) -> Result<Answer, Failure> {
    if profile_simulated::is_meant(&arguments.target) {
        profile_simulated::run(arguments)?;
        return Ok(Answer::Yes);
    }
    if arguments.model.is_some() {
        return Err(Failure::input("--model is for simulated drives", "leave it out"));
    }
    let op = Op::from(arguments.op);
    if op == Op::Write && !arguments.allow_writes {
        return Err(Failure::input(
            "measuring writes destroys what is on the target",
            "add --allow-writes if that is meant",
        ));
    }
    if !arguments.only.contains(&Experiment::Batch) && !arguments.add {
        return Err(Failure::input(
            "a drive file needs a table of batches",
            "put batch into --only, or add to a drive file that exists with --add",
        ));
    }
    if let Some(size) = arguments.create {
        check_before_making(arguments, op, size)?;
    }
    let prepare = |path| OutputFile::prepare(path, arguments.add, &arguments.target);
    let output = arguments.output.as_deref().map(prepare).transpose()?;
    let interrupted = interrupt::flag()?;
    let (target, made) = open_target(arguments, op, &interrupted)?;
    if let Some(output) = &output {
        output.check_device(&measure::device_identity(target.facts()))?;
    }
    let params = params(arguments, op, &target);
    print_head(&target, &params);
    let profile = measure(arguments, &target, made, &params, &interrupted)?;
    print_warnings(&profile.warnings);
    publish(output.as_ref(), &profile.file, &profile.file, &profile.starts)?;
    Ok(Answer::Yes)
}

pub(crate) fn print_warnings(warnings: &[Warning]) {
    for warning in warnings {
        eprintln!("{:<12} {warning}", "Warning");
    }
}

/// Refuses what is sure to be refused once the target is made.
fn check_before_making(
    arguments: &ProfileArguments,
    op: Op,
    capacity: Bytes,
) -> Result<(), Failure> {
    let params = ProfileParams {
        op,
        size: arguments.size,
        // Where nobody says, the device does, and that is not known yet.
        depth: arguments.depth.unwrap_or(1),
        samples: arguments.samples,
        ..ProfileParams::new("", &DeviceFacts::default())
    };
    params.check(capacity).map_err(profile_failure)
}

/// The target, and what removes it again if it was made now.
fn open_target(
    arguments: &ProfileArguments,
    op: Op,
    interrupted: &AtomicBool,
) -> Result<(Target, Option<MadeTarget>), Failure> {
    let path = &arguments.target;
    let access = if op == Op::Write { Access::ReadWrite } else { Access::ReadOnly };
    let Some(size) = arguments.create else {
        let target = Target::open(path, access).map_err(|error| Failure::unusable(&error))?;
        return Ok((target, None));
    };
    eprintln!("{:<12} {}, {size} of random data", "Creating", path.display());
    let bar = bar("bytes");
    bar.set_length(size.get());
    let target =
        Target::create(path, size, access, |written| bar.set_position(written.get()), interrupted);
    bar.finish_and_clear();
    let target = target.map_err(|error| Failure::unusable(&error))?;
    let made = MadeTarget::new(path, &target);
    Ok((target, Some(made)))
}

/// Measures until done, stopped or out of time. What was made for it stays once something
/// was measured on it.
fn measure(
    arguments: &ProfileArguments,
    target: &Target,
    made: Option<MadeTarget>,
    params: &ProfileParams,
    interrupted: &AtomicBool,
) -> Result<Profile, Failure> {
    let bar = bar("trials");
    let mut is_measured = false;
    let progress = |progress: Progress| {
        is_measured |= progress.done > 0;
        show_progress(&bar, progress);
        if arguments.time_limit.is_some_and(|limit| progress.elapsed >= limit) {
            interrupted.store(true, Ordering::Relaxed);
        }
    };
    let profile = measure::profile(target, params, progress, interrupted);
    bar.finish_and_clear();
    if let (true, Some(made)) = (is_measured, made) {
        made.keep();
    }
    profile.map_err(profile_failure)
}

fn params(arguments: &ProfileArguments, op: Op, target: &Target) -> ProfileParams {
    let facts = target.facts();
    let name = arguments.name.clone().or_else(|| facts.model.clone()).unwrap_or_else(|| {
        let path = facts.path.file_name().unwrap_or(facts.path.as_os_str());
        path.to_string_lossy().into_owned()
    });
    let defaults = ProfileParams::new(name, facts);
    ProfileParams {
        experiments: arguments.only.clone(),
        op,
        size: arguments.size,
        depth: arguments.depth.unwrap_or(defaults.depth),
        samples: arguments.samples,
        seed: arguments.seed.unwrap_or_else(seed_of_now),
        real_time: Some(realtime::request(realtime::PRIORITY)),
        ..defaults
    }
}

/// A seed that differs from run to run: a second profile looks at other places.
fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |age| age.as_secs())
}

fn print_head(target: &Target, params: &ProfileParams) {
    let facts = target.facts();
    let what =
        format!("{}, {}, aligned to {}", facts.path.display(), target.size(), target.alignment());
    print_measuring(&what, params);
    if let Some(real_time) = &params.real_time {
        eprintln!("{:<12} {real_time}", "Host");
    }
}

/// Says what is measured, and how.
pub(crate) fn print_measuring(what: &str, params: &ProfileParams) {
    eprintln!("{:<12} {what}", "Target");
    let names: Vec<_> = params.experiments.iter().map(|it| it.name()).collect();
    eprintln!(
        "{:<12} {} of 1 to {} {}s of {}: {} samples of each, seed {}",
        "Measuring",
        names.join(", "),
        params.depth,
        params.op.name(),
        params.size,
        params.samples,
        params.seed,
    );
}

/// A bar on a terminal; a log has no use for it.
pub(crate) fn bar(unit: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::no_length();
    let count = if unit == "bytes" { "{bytes} of {total_bytes}" } else { "{msg}: {pos} of {len}" };
    let template = format!("{{bar:40}} {{percent:>3}} %  {count}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is fixed");
    bar.set_style(style.progress_chars("=> "));
    bar
}

pub(crate) fn show_progress(bar: &ProgressBar, progress: Progress) {
    bar.set_message(progress.experiment.name());
    bar.set_length(progress.total);
    bar.set_position(progress.done);
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(crate) fn profile_failure(error: ProfileError) -> Failure {
    match error {
        ProfileError::Ring(
            RingError::SizeOutOfRange { .. } | RingError::SlotsOutOfRange { .. },
        ) => Failure::unusable(&error),
        ProfileError::Ring(_) | ProfileError::Subject(_) => Failure::environment(&error),
        _ => Failure::unusable(&error),
    }
}

/// Writes or prints the `whole` drive file and shows what was `measured`; where writing fails the
/// file is printed, for a measurement is
/// not lost.
pub(crate) fn publish(
    output: Option<&OutputFile>,
    whole: &DriveFile,
    measured: &DriveFile,
    starts: &[StartTimes],
) -> Result<(), Failure> {
    let Some(output) = output else { return print_toml(whole) };
    if let Err(failure) = output.publish(whole) {
        print_toml(whole)?;
        return Err(failure.after_measuring());
    }
    profile_tables::print(measured, starts);
    show::labelled("Written", &output.name());
    Ok(())
}

/// Prints the drive file, on standard error where standard output takes nothing.
fn print_toml(file: &DriveFile) -> Result<(), Failure> {
    let text = file.to_toml();
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| {
        eprint!("{text}");
        let said = format!("cannot write to standard output: {error}; the result stands above");
        Failure::environment(&io::Error::new(error.kind(), said))
    })
}
