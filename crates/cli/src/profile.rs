// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate profile`: measure the device, write a drive file.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use device::{Access, DeviceFacts, RingError, Target, realtime};
use indicatif::{ProgressBar, ProgressStyle};
use measure::{Profile, ProfileError, ProfileParams, Progress};
use model::{Bytes, DriveFile, Op};

use crate::Answer;
use crate::arguments::ProfileArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::made_target::MadeTarget;
use crate::output_file::OutputFile;
use crate::profile_simulated;
use crate::show::{self, out, outln};

/// Runs the command.
pub(crate) fn profile(arguments: &ProfileArguments) -> Result<Answer, Failure> {
    if profile_simulated::is_meant(&arguments.target) {
        profile_simulated::run(arguments)?;
        return Ok(Answer::Yes);
    }
    let op = Op::from(arguments.op);
    if op == Op::Write && !arguments.allow_writes {
        return Err(Failure::input(
            "measuring writes destroys what is on the target",
            "add --allow-writes if that is meant",
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
    for warning in &profile.warnings {
        eprintln!("{:<12} {warning}", "Warning");
    }
    publish(output.as_ref(), &profile.file)?;
    Ok(Answer::Yes)
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
    let bar = bar("batches");
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
    eprintln!(
        "{:<12} b(1) to b({}) for {}s of {}: {} samples of each, seed {}",
        "Measuring",
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
    let count = if unit == "bytes" { "{bytes} of {total_bytes}" } else { "{pos} of {len} batches" };
    let template = format!("{{bar:40}} {{percent:>3}} %  {count}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is fixed");
    bar.set_style(style.progress_chars("=> "));
    bar
}

pub(crate) fn show_progress(bar: &ProgressBar, progress: Progress) {
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

/// What was measured, at a few batch sizes, beside what one at a time would take.
fn print_table(file: &DriveFile) {
    let Some(measured) = file.batch.first() else { return };
    let ms = |ns: u64| show::ms_ceil(model::Duration::from_ns(ns));
    let [_, _, p50, _, _, p999] = &measured.quantiles_ns;
    let last = measured.ns_max.len();
    let powers = std::iter::successors(Some(1), |size| Some(size * 2));
    let sizes = powers.take_while(|&size| size < last).chain([last]);
    let single = measured.ns_max[0];
    let rows = sizes.map(|n: usize| {
        let (batch, n_wide) = (measured.ns_max[n - 1].max(1), n as u64);
        vec![
            n.to_string(),
            ms(p50[n - 1]),
            ms(p999[n - 1]),
            ms(measured.ns_max[n - 1]),
            ms(batch / n_wide),
            gain(single, batch, n_wide),
        ]
    });
    let header =
        ["requests", "median", "99.9 %", "b(i): maximum", "per request", "gain over one at a time"];
    outln!();
    out!("{}", show::table(&header, rows.collect(), 0));
    outln!();
    if let Some(confidence) = &measured.confidence {
        show::labelled("Confidence", confidence);
    }
}

/// How many times faster a batch is than its requests one at a time, rounded down.
fn gain(single_ns: u64, batch_ns: u64, requests: u64) -> String {
    let one_at_a_time = u128::from(single_ns) * u128::from(requests);
    let percent = one_at_a_time * 100 / u128::from(batch_ns);
    format!("{}.{:02}x", percent / 100, percent % 100)
}

/// Writes or prints the drive file; where writing fails it is printed, for a measurement is
/// not lost.
pub(crate) fn publish(output: Option<&OutputFile>, measured: &DriveFile) -> Result<(), Failure> {
    let Some(output) = output else { return print_toml(measured) };
    if let Err(failure) = output.publish(measured) {
        print_toml(measured)?;
        return Err(failure.after_measuring());
    }
    print_table(measured);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gain_is_how_often_a_batch_would_fit_into_its_requests_alone() {
        assert_eq!(gain(10, 10, 1), "1.00x");
        assert_eq!(gain(10, 30, 8), "2.66x");
        assert_eq!(gain(1, 1, 4096), "4096.00x", "faster than the clock");
        assert_eq!(gain(u64::MAX, 1 << 63, 2), "3.99x");
    }
}
