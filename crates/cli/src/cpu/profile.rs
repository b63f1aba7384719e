// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu profile`: measures how much time of a processor other threads take, and writes a
//! `*.cpu.toml`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tidegate_commands::{parse_profile, read_text};
use tidegate_cpu_measure::{
    Calibration, CpuMeasurement, CpuProfileEnd, CpuProfileError, CpuProfileParams, CpuProgress,
    IntervalRange, PartialFault, PartialFile, calibrated, check_baseline,
};
use tidegate_cpu_model::CpuProfile;
use tidegate_model::Duration;
use tidegate_platform::affinity::Affinity;
use tidegate_platform::{FileFault, NewFile};
use tidegate_report::cpu::{self, CpuProfileReport};

use super::arguments::CpuProfileArguments;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::{OF_MEASURING, bar, seed_of_now};
use crate::show::{self, Form};

/// The interval at which a long measurement is saved, so that a kill loses at most one minute.
const KEEP_EVERY: Duration = Duration::from_ms(60_000);

/// The number of trials if the user gives neither trials nor a duration.
const TRIALS: u64 = 200;

/// The maximum number of trials if the user gives only a duration: no limit.
const UNLIMITED: u64 = u64::MAX;

/// The destination of the result.
struct Output {
    toml: Option<NewFile>,
    svg: Option<NewFile>,
    partial: PartialFile,
}

/// Runs the command.
pub(super) fn profile(arguments: &CpuProfileArguments) -> Result<Answer, Failure> {
    let mut output = Output::prepare(arguments)?;
    let params = params(arguments)?;
    params.intervals.lengths().map_err(|error| Failure::unusable(&error))?;
    let known = arguments.baseline.as_deref().map(|path| baseline(path, &params));
    let known = known.transpose()?;
    let interrupted = interrupt::flag(output.kept())?;
    if !arguments.form.quiet {
        print_head(&params);
    }
    let (measured, calibration) =
        calibrated(&params, known, |params| measure(params, &mut output.partial, &interrupted))?;
    for warning in measured.warnings.iter().filter(|_| !arguments.form.quiet) {
        show::say("Warning", warning);
    }
    output.publish(arguments, &measured, calibration.as_ref())?;
    let is_covered = calibration.is_none_or(|it| it.is_covered());
    let is_whole = measured.end != CpuProfileEnd::Cancelled;
    Ok(Answer::of(is_whole && is_covered))
}

/// Reads a profile of this computer without the load, which must have been measured with these
/// parameters.
fn baseline(path: &Path, params: &CpuProfileParams) -> Result<CpuProfile, Failure> {
    let text = read_text(path, "processor profile")?;
    let profile = parse_profile(path, &text)?;
    check_baseline(&profile, params).map_err(|error| {
        Failure::input(format!("{} cannot be the baseline: {error}", path.display()), &error.help)
    })?;
    Ok(profile)
}

fn params(arguments: &CpuProfileArguments) -> Result<CpuProfileParams, Failure> {
    let cpu = arguments.cpu.or_else(|| Affinity::of(None).ok()?.cpus().last());
    let cpu = cpu.unwrap_or(0);
    let name = arguments.name.clone().unwrap_or_else(|| format!("cpu{cpu}"));
    if name.is_empty() || name.contains(char::is_control) {
        return Err(Failure::input(
            "the name cannot be printed",
            "write a --name of plain letters",
        ));
    }
    Ok(CpuProfileParams {
        name,
        cpu,
        priority: Some(arguments.priority),
        intervals: IntervalRange { longest: arguments.longest, count: arguments.lengths },
        trials: match (arguments.trials, arguments.duration) {
            (Some(trials), _) => trials,
            (None, Some(_)) => UNLIMITED,
            (None, None) => TRIALS,
        },
        time_limit: arguments.duration,
        seed: arguments.seed.unwrap_or_else(seed_of_now),
        synthetic_load: arguments.thief,
        keep_every: KEEP_EVERY,
    })
}

fn print_head(params: &CpuProfileParams) {
    let longest = params.intervals.longest;
    let trials =
        (params.trials != UNLIMITED).then(|| format!("{} trials of the longest", params.trials));
    let duration = params.time_limit.map(|limit| format!("at most {limit}"));
    let ends: Vec<String> = trials.into_iter().chain(duration).collect();
    let (cpu, count, seed, ends) =
        (params.cpu, params.intervals.count, params.seed, ends.join(", "));
    show::say(
        "Measuring",
        format!("processor {cpu}, {count} lengths up to {longest}, {ends}, seed {seed}"),
    );
}

fn measure(
    params: &CpuProfileParams,
    partial: &mut PartialFile,
    interrupted: &AtomicBool,
) -> Result<CpuMeasurement, Failure> {
    let bar = bar(OF_MEASURING);
    let unit = if params.trials == UNLIMITED { "seconds" } else { "trials" };
    let what = if params.synthetic_load.is_some() { ", with load" } else { "" };
    let begin = Instant::now();
    let progress = |progress: CpuProgress| {
        // If the number of trials is unlimited, the bar counts seconds.
        let seconds = params.time_limit.filter(|_| params.trials == UNLIMITED);
        let (all, done) = seconds.map_or((progress.trials_all, progress.trials), |limit| {
            (limit.ns() / 1_000_000_000, begin.elapsed().as_secs())
        });
        bar.set_length(all);
        bar.set_message(format!("of {all} {unit}{what}"));
        bar.set_position(done.min(all));
        if let Some(profile) = progress.so_far {
            bar.suspend(|| warn(partial.keep(&profile)));
        }
    };
    let measured = tidegate_cpu_measure::profile(params, progress, interrupted);
    bar.finish_and_clear();
    measured.map_err(|error| match error {
        CpuProfileError::Processor { .. }
        | CpuProfileError::Priority { .. }
        | CpuProfileError::Plan(_)
        | CpuProfileError::SyntheticLoad(_) => Failure::unusable(&error),
        _ => Failure::environment(&error),
    })
}

fn warn(kept: Result<(), PartialFault>) {
    if let Err(fault) = kept {
        show::say("Warning", fault);
    }
}

/// Prepares the file for the partial result.
fn partial_file(output: Option<&Path>) -> Result<PartialFile, Failure> {
    PartialFile::beside(output).map_err(|fault| match fault {
        FileFault::Exists(..) => {
            Failure::input(fault.to_string(), "a killed measurement left it: rename or remove it")
        }
        fault => Failure::of_file(&fault),
    })
}

impl Output {
    /// Refuses impossible destinations before the measurement begins.
    fn prepare(arguments: &CpuProfileArguments) -> Result<Self, Failure> {
        let prepare = |path: &Option<PathBuf>| {
            let file = path.as_deref().map(NewFile::prepare).transpose();
            file.map_err(|fault| Failure::of_file(&fault))
        };
        let (toml, svg) = (prepare(&arguments.output)?, prepare(&arguments.svg)?);
        let partial = partial_file(arguments.output.as_deref())?;
        let is_svg = |it: &NewFile| svg.as_ref().is_some_and(|svg| svg.is_same(it));
        if let Some(both) = toml.iter().chain(partial.file()).find(|it| is_svg(it)) {
            let what = format!("the plots and the profile have the same name, {}", both.name());
            return Err(Failure::input(what, "name another file with --svg"));
        }
        Ok(Self { toml, svg, partial })
    }

    /// Returns the text that a second Ctrl-C prints.
    fn kept(&self) -> Option<String> {
        let name = self.partial.file()?.name();
        Some(format!("immediately; {name}, if it exists, holds the results of up to a minute ago"))
    }

    /// Writes the files, then shows the result. A profile that cannot be written is printed, so
    /// that no measurement is lost.
    fn publish(
        &self,
        arguments: &CpuProfileArguments,
        measured: &CpuMeasurement,
        calibration: Option<&Calibration>,
    ) -> Result<(), Failure> {
        let text = measured.profile.to_toml();
        let put = |file: &Option<NewFile>, text: &str| {
            let written = file.as_ref().map(|file| file.write(text)).transpose();
            written.map_err(|fault| Failure::of_file(&fault))
        };
        let written = put(&self.toml, &text);
        let drawn = put(&self.svg, &cpu::draw_profile(measured));
        let is_written = matches!(written, Ok(Some(())));
        if is_written {
            warn(self.partial.remove());
        }
        let written_to = self.toml.as_ref().filter(|_| is_written).map(NewFile::name);
        let report = CpuProfileReport::of(measured, calibration, written_to.as_deref(), &text);
        // A profile that cannot be written is printed whole.
        let is_quiet = arguments.form.quiet && written.is_ok();
        show::report_in(&report, Form { is_json: arguments.form.json, is_quiet });
        written.map_err(Failure::after_measuring)?;
        drawn.map(|_| ())
    }
}
