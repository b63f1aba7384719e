// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu profile`: measures how much time of a processor other threads take, and writes a
//! `*.cpu.toml`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tidegate_cpu_measure::{
    Calibration, CpuMeasurement, CpuProfileEnd, CpuProfileError, CpuProfileParams, CpuProgress,
    IntervalRange, SyntheticLoad, check_baseline,
};
use tidegate_cpu_model::CpuProfile;
use tidegate_measure::{FileFault, NewFile};
use tidegate_model::Duration;
use tidegate_platform::affinity::Affinity;
use tidegate_report::cpu::{self, CpuProfileReport};

use super::arguments::CpuProfileArguments;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::{bar, seed_of_now};
use crate::{show, text_input};

/// The interval at which a long measurement is saved: a kill loses at most this much.
const KEEP_EVERY: Duration = Duration::from_ms(60_000);

/// The number of trials if neither trials nor a duration is given.
const TRIALS: u64 = 200;

/// The number of trials if only a duration is given.
const UNLIMITED: u64 = u64::MAX;

/// The destination of the result.
struct Output {
    toml: Option<NewFile>,
    svg: Option<NewFile>,
    kept: Kept,
}

/// The partial result of a long measurement, in a file beside the result until the result is
/// written.
struct Kept {
    file: Option<NewFile>,
    is_there: bool,
}

/// Runs the command.
pub(super) fn profile(arguments: &CpuProfileArguments) -> Result<Answer, Failure> {
    let mut output = Output::prepare(arguments)?;
    let params = params(arguments)?;
    params.intervals.lengths().map_err(|error| Failure::unusable(&error))?;
    let known = arguments.baseline.as_deref().map(|path| baseline(path, &params));
    let known = known.transpose()?;
    let interrupted = interrupt::flag(output.kept.says())?;
    if !arguments.form.quiet {
        print_head(&params);
    }
    let (measured, calibration) = match params.synthetic_load {
        None => (measure(&params, &mut output.kept, &interrupted)?, None),
        Some(thief) => calibrate(thief, &params, known, &mut output.kept, &interrupted)?,
    };
    for warning in measured.warnings.iter().filter(|_| !arguments.form.quiet) {
        show::say("Warning", warning);
    }
    output.publish(arguments, &measured, calibration.as_ref())?;
    let is_covered = calibration.is_none_or(|it| it.is_covered());
    let is_whole = measured.end != CpuProfileEnd::Cancelled;
    Ok(Answer::of(is_whole && is_covered))
}

/// Measures without the load, unless a baseline is given, and then with it. If the first
/// measurement is interrupted, its result is returned alone.
fn calibrate(
    thief: SyntheticLoad,
    params: &CpuProfileParams,
    baseline: Option<CpuProfile>,
    kept: &mut Kept,
    interrupted: &AtomicBool,
) -> Result<(CpuMeasurement, Option<Calibration>), Failure> {
    let without = if let Some(known) = baseline {
        known
    } else {
        let without = CpuProfileParams { synthetic_load: None, ..params.clone() };
        let mut idle = measure(&without, kept, interrupted)?;
        if idle.end == CpuProfileEnd::Cancelled {
            let warning =
                "interrupted before the synthetic load began: this is the machine without it";
            idle.warnings.push(warning.to_owned());
            return Ok((idle, None));
        }
        idle.profile
    };
    let mut measured = measure(params, kept, interrupted)?;
    let (there, here) = (&without.conditions.place, &measured.profile.conditions.place);
    if there != here {
        let there = there.as_deref().unwrap_or("an unnamed machine");
        measured
            .warnings
            .push(format!("the baseline was measured on {there}, not on this machine"));
    }
    let calibration = Calibration::of(thief, &without, &measured);
    Ok((measured, Some(calibration)))
}

/// Reads the profile of the machine without the load, which must have been measured with these
/// parameters.
fn baseline(path: &Path, params: &CpuProfileParams) -> Result<CpuProfile, Failure> {
    let text = text_input::read_named(path, "processor profile")?;
    let profile =
        CpuProfile::parse(&text).map_err(|error| Failure::in_file(path, text.clone(), &error))?;
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
    kept: &mut Kept,
    interrupted: &AtomicBool,
) -> Result<CpuMeasurement, Failure> {
    let bar = bar("trials");
    let unit = if params.trials == UNLIMITED { "seconds" } else { "trials" };
    let what = if params.synthetic_load.is_some() { " with the synthetic load" } else { "" };
    bar.set_message(format!("{unit}{what}"));
    let begin = Instant::now();
    let progress = |progress: CpuProgress| {
        // With an unknown number of trials, the bar counts seconds.
        let seconds = params.time_limit.filter(|_| params.trials == UNLIMITED);
        let (all, done) = seconds.map_or((progress.trials_all, progress.trials), |limit| {
            (limit.ns() / 1_000_000_000, begin.elapsed().as_secs())
        });
        bar.set_length(all);
        bar.set_position(done.min(all));
        if let Some(profile) = progress.so_far {
            bar.suspend(|| kept.keep(&profile));
        }
    };
    let measured = tidegate_cpu_measure::profile(params, progress, interrupted);
    bar.finish_and_clear();
    measured.map_err(|error| match error {
        CpuProfileError::Processor { .. }
        | CpuProfileError::Plan(_)
        | CpuProfileError::SyntheticLoad(_) => Failure::unusable(&error),
        _ => Failure::environment(&error),
    })
}

impl Kept {
    fn prepare(output: Option<&Path>) -> Result<Self, Failure> {
        let beside = output.map(|output| {
            let mut name = output.as_os_str().to_owned();
            name.push(".partial");
            NewFile::prepare(Path::new(&name))
        });
        let file = beside.transpose().map_err(|fault| match fault {
            FileFault::Exists(..) => Failure::input(
                fault.to_string(),
                "a killed measurement left it: rename or remove it",
            ),
            fault => Failure::of_file(&fault),
        })?;
        Ok(Self { file, is_there: false })
    }

    /// Returns what a second Ctrl-C prints.
    fn says(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(format!(
            "immediately; {}, if it exists, holds the results of up to a minute ago",
            file.name()
        ))
    }

    fn keep(&mut self, profile: &CpuProfile) {
        let Some(file) = &self.file else { return };
        match file.rewrite(&profile.to_toml()) {
            Ok(()) => self.is_there = true,
            Err(error) => {
                show::say("Warning", format!("{} is not kept: {error}", file.name()));
                self.file = None;
            }
        }
    }

    /// Removes the partial result once the result is written.
    fn remove(&self) {
        if let Some(file) = self.file.as_ref().filter(|_| self.is_there)
            && let Err(error) = file.remove()
        {
            show::say("Warning", format!("{} is left: {error}", file.name()));
        }
    }
}

impl Output {
    /// Refuses impossible destinations before anything is measured.
    fn prepare(arguments: &CpuProfileArguments) -> Result<Self, Failure> {
        let prepare = |path: &Option<PathBuf>| {
            let file = path.as_deref().map(NewFile::prepare).transpose();
            file.map_err(|fault| Failure::of_file(&fault))
        };
        let (toml, svg) = (prepare(&arguments.output)?, prepare(&arguments.svg)?);
        let kept = Kept::prepare(arguments.output.as_deref())?;
        let is_svg = |it: &NewFile| svg.as_ref().is_some_and(|svg| svg.is_same(it));
        if let Some(both) = toml.iter().chain(&kept.file).find(|it| is_svg(it)) {
            let what = format!("the plots and the profile have the same name, {}", both.name());
            return Err(Failure::input(what, "name another file with --svg"));
        }
        Ok(Self { toml, svg, kept })
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
            self.kept.remove();
        }
        let written_to = self.toml.as_ref().filter(|_| is_written).map(NewFile::name);
        let report = CpuProfileReport::of(measured, calibration, written_to.as_deref(), &text);
        show::report_in(&report, arguments.form);
        written.map_err(Failure::after_measuring)?;
        drawn.map(|_| ())
    }
}
