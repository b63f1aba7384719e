// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu profile`: measure what others take of a processor, write a `*.cpu.toml`.

use std::sync::atomic::AtomicBool;

use device::affinity::Affinity;
use measure::cpu::{CpuMeasurement, CpuProfileError, CpuProfileParams, CpuProgress, IntervalRange};

use super::arguments::CpuProfileArguments;
use super::calibration::Calibration;
use super::{profile_charts, profile_json, profile_text};
use crate::Answer;
use crate::failure::Failure;
use crate::interrupt;
use crate::new_file::NewFile;
use crate::plot::svg;
use crate::profile::{bar, seed_of_now};
use crate::show::{self, out, outln};

/// Where the result goes.
struct Output {
    toml: Option<NewFile>,
    svg: Option<NewFile>,
}

/// Runs the command.
pub(super) fn profile(arguments: &CpuProfileArguments) -> Result<Answer, Failure> {
    let output = Output::prepare(arguments)?;
    let params = params(arguments)?;
    params.intervals.lengths().map_err(|error| Failure::unusable(&error))?;
    let interrupted = interrupt::flag(None)?;
    print_head(&params);
    let idle = match params.thief {
        None => None,
        Some(_) => {
            Some(measure(&CpuProfileParams { thief: None, ..params.clone() }, &interrupted)?)
        }
    };
    let measured = measure(&params, &interrupted)?;
    let calibration = idle.zip(params.thief).map(|(idle, thief)| {
        Calibration::of(thief, &idle.profile.points, &measured.profile.points)
    });
    for warning in &measured.warnings {
        eprintln!("{:<12} {warning}", "Warning");
    }
    output.publish(arguments, &measured, calibration.as_ref())?;
    Ok(if measured.is_cancelled { Answer::No } else { Answer::Yes })
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
        trials: arguments.trials,
        time_limit: arguments.duration,
        seed: arguments.seed.unwrap_or_else(seed_of_now),
        thief: arguments.thief,
    })
}

fn print_head(params: &CpuProfileParams) {
    let longest = params.intervals.longest;
    eprintln!(
        "{:<12} processor {}, {} lengths up to {longest}, {} trials of the longest, seed {}",
        "Measuring", params.cpu, params.intervals.count, params.trials, params.seed
    );
}

fn measure(params: &CpuProfileParams, interrupted: &AtomicBool) -> Result<CpuMeasurement, Failure> {
    let bar = bar("trials");
    let what = if params.thief.is_some() { "with the thief" } else { "" };
    bar.set_message(what);
    let progress = |progress: CpuProgress| {
        bar.set_length(progress.trials_all);
        bar.set_position(progress.trials.min(progress.trials_all));
    };
    let measured = measure::cpu::profile(params, progress, interrupted);
    bar.finish_and_clear();
    measured.map_err(|error| match error {
        CpuProfileError::Processor { .. } | CpuProfileError::Plan(_) => Failure::unusable(&error),
        _ => Failure::environment(&error),
    })
}

impl Output {
    /// Refuses what cannot be before anything is measured.
    fn prepare(arguments: &CpuProfileArguments) -> Result<Self, Failure> {
        let prepare = |path: &Option<_>| path.as_deref().map(NewFile::prepare).transpose();
        Ok(Self { toml: prepare(&arguments.output)?, svg: prepare(&arguments.svg)? })
    }

    /// Files first: what cannot be put in place is printed, so that no measurement is lost.
    fn publish(
        &self,
        arguments: &CpuProfileArguments,
        measured: &CpuMeasurement,
        calibration: Option<&Calibration>,
    ) -> Result<(), Failure> {
        let text = measured.profile.to_toml();
        let charts = profile_charts::of(&measured.profile);
        let put = |file: &Option<NewFile>, text: &str| {
            file.as_ref().map(|file| file.write(text)).transpose()
        };
        let written = put(&self.toml, &text);
        let drawn = put(&self.svg, &svg::draw(&measured.profile.name, &charts));
        let is_written = matches!(written, Ok(Some(())));
        let written_to = self.toml.as_ref().filter(|_| is_written).map(NewFile::name);
        if arguments.json {
            let object = profile_json::of(measured, calibration, written_to.as_deref(), &text);
            outln!("{object:#}");
        } else {
            profile_text::print(measured, calibration, &charts);
            outln!();
            match &written_to {
                Some(name) => show::labelled("Written", name),
                None => out!("{text}"),
            }
        }
        written.map_err(Failure::after_measuring)?;
        drawn.map(|_| ())
    }
}
