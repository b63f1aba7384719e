// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The destination of the result of `tidegate profile`: a drive file and tables for people, or one
//! JSON object. During the measurement, samples go to another file. A measurement is never lost: a
//! file that cannot be written is printed.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tidegate_commands::quoted;
use tidegate_measure::samples_file::StuckSamples;
use tidegate_measure::{
    Expected, Journal, Origin, OutputFile, Profile, ProfileError, SamplesFault, SamplesFile,
};
use tidegate_model::DriveFile;
use tidegate_model::drive_file::Identity;
use tidegate_report::profile::Outcome;
use tidegate_report::{ProfileReport, Report as _, ResultCommand, ResultFile};

use crate::arguments::ProfileArguments;
use crate::command_line;
use crate::distinct_files::check_distinct;
use crate::failure::Failure;
use crate::progress::profile_failure;
use crate::result::Destination;
use crate::show::{self, out};

/// The destination of the result, with no file if the result is printed.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) file: Option<OutputFile>,
    samples: Option<SamplesFile>,
    /// The result file.
    result: Destination,
    /// The target's name in suggested commands.
    target: String,
    is_json: bool,
    is_quiet: bool,
}

impl Output {
    /// Refuses impossible destinations before anything is measured.
    pub(crate) fn prepare(arguments: &ProfileArguments, target: &Path) -> Result<Self, Failure> {
        let (is_json, is_quiet) = (arguments.json, arguments.quiet);
        let path = arguments.output.as_ref().filter(|_| !arguments.plan);
        let named = quoted(&arguments.target.to_string_lossy());
        check_distinct(&[
            ("--output", path.map(PathBuf::as_path)),
            ("--result", arguments.result.as_deref()),
        ])?;
        let result = Destination::prepare(arguments.result.as_deref())?;
        let nowhere = Self { target: named, is_json, is_quiet, result, ..Self::default() };
        let Some(path) = path else { return Ok(nowhere) };
        if path.to_string_lossy().contains(char::is_control) {
            return Err(Failure::input(
                format!("the name {} cannot be printed", path.to_string_lossy().escape_debug()),
                "write an --output of printable characters",
            ));
        }
        let expected = match (arguments.add, arguments.resume) {
            (true, _) => Expected::DriveFile,
            (false, true) => Expected::Interrupted,
            (false, false) => Expected::Nothing,
        };
        // The samples of a stopped measurement tell how to resume it; its drive file does not.
        let samples = SamplesFile::beside(path, arguments.resume, arguments.keep_samples);
        let samples = samples.map_err(samples_failure)?;
        let file = OutputFile::prepare(path, expected, target).map_err(Failure::of_output)?;
        Ok(Self { file: Some(file), samples: Some(samples), ..nowhere })
    }

    /// Opens the journal of a measurement of `device`, or of a simulated drive. The measurement can
    /// be resumed only if `same` is equal.
    pub(crate) fn journal(
        &self,
        (device, origin): (&Identity, Origin),
        same: &str,
    ) -> Result<Option<Journal>, Failure> {
        if let Some(file) = &self.file {
            file.check_origin(origin).map_err(Failure::of_output)?;
            file.check_device(device).map_err(Failure::of_output)?;
        }
        let facts = [&device.model, &device.firmware, &device.serial_hash, &device.place];
        let facts = facts.into_iter().flatten().map(String::as_str).chain([same]);
        let measured = facts.collect::<Vec<_>>().join(", ");
        let journal = self.samples.as_ref().map(|samples| samples.open(&measured));
        journal.transpose().map_err(samples_failure)
    }

    /// Describes the data that remains if the measurement's process is killed.
    pub(crate) fn kept(&self) -> Option<String> {
        self.samples.as_ref().map(SamplesFile::kept)
    }

    /// Keeps the samples of a failed measurement, if it has any.
    pub(crate) fn after(
        &self,
        measured: Result<Profile, ProfileError>,
    ) -> Result<Profile, Failure> {
        match (&measured, &self.samples) {
            (Err(ProfileError::NothingMeasured), Some(samples)) => warn(samples.discard()),
            (Err(_), Some(samples)) => keep(samples),
            _ => (),
        }
        measured.map_err(profile_failure)
    }

    /// Writes or prints the drive file `whole`, and shows the profile `measured`. If writing fails,
    /// the file is printed and its samples are kept.
    pub(crate) fn publish(&self, whole: &DriveFile, measured: &Profile) -> Result<(), Failure> {
        for warning in measured.warnings.iter().filter(|_| !self.is_quiet) {
            show::say("Warning", warning);
        }
        let put = self.file.as_ref().map(|file| file.publish(whole, &measured.starts));
        let (said, failure) = match put.transpose() {
            Ok(said) => (said.flatten().map(|said| self.completed(&said)), None),
            Err(fault) => (None, Some(Failure::of_output(fault))),
        };
        if let Some(said) = said.as_ref().filter(|_| !self.is_quiet) {
            show::say("Warning", said);
        }
        let is_written = self.file.is_some() && failure.is_none();
        let is_done = failure.is_none() && !measured.is_cancelled;
        // Once the drive file is written, its samples are no longer needed, whether or not the file
        // can be shown.
        if is_written {
            self.close(is_done);
        }
        let stated = self.written(is_written);
        let outcome = self.outcome(whole, is_written, is_done, said);
        let report = ProfileReport::of(measured, stated.as_ref().unwrap_or(whole), &outcome);
        let shown = match (self.is_json, is_written) {
            (true, _) => print(&format!("{}\n", report.to_json()), is_written),
            (false, true) if self.is_quiet => {
                out!("{}\n", report.usable().text());
                Ok(())
            }
            (false, true) => {
                out!("{}", report.to_text(show::look()));
                Ok(())
            }
            (false, false) => {
                let printed = print(&report.to_text(show::look()), is_written);
                show::say_lines(report.usable().text());
                printed
            }
        };
        if !is_written {
            self.close(false);
        }
        let stated = stated.as_ref().unwrap_or(whole);
        let kept = self.result.write(|| {
            let result = ResultFile::of(ResultCommand::Profile, &report, Vec::new());
            result.answered(report.usable().text()).with_drive(Some(stated))
        });
        shown.and(kept).and(failure.map_or(Ok(()), |failure| Err(failure.after_measuring())))
    }

    /// Completes the commands in a text by the file's name.
    fn completed(&self, text: &str) -> String {
        let file = self.file.as_ref().map(|file| quoted(&file.name()));
        let output = file.map_or_else(String::new, |file| format!("-o {file}"));
        text.replace("profile TARGET", &format!("profile {}", self.target))
            .replace("-o FILE", &output)
    }

    /// Removes the samples, or reports where they are.
    fn close(&self, is_done: bool) {
        match &self.samples {
            Some(samples) if is_done => match samples.close() {
                Ok(left) => left.into_iter().for_each(|left| show::say("Samples", left)),
                stuck => warn(stuck),
            },
            Some(samples) => keep(samples),
            None => (),
        }
    }

    /// Returns the drive file that is now on disk, including its earlier content.
    fn written(&self, is_written: bool) -> Option<DriveFile> {
        self.file.as_ref().filter(|_| is_written)?.read()
    }

    fn outcome(
        &self,
        whole: &DriveFile,
        is_written: bool,
        is_done: bool,
        said: Option<String>,
    ) -> Outcome {
        Outcome {
            written: self.file.as_ref().filter(|_| is_written).map(OutputFile::name),
            samples_file: self.samples.as_ref().and_then(|it| it.left(is_done)),
            said,
            toml: (!is_written).then(|| whole.to_toml()),
        }
    }
}

/// Reports where the samples are, and how to resume.
fn keep(samples: &SamplesFile) {
    show::say("Samples", samples.path().display());
    show::say_command("To do", &resuming());
}

/// Returns the command that resumes this measurement: it creates no target, and has no time limit.
fn resuming() -> String {
    command_line::changed(&["--create", "--time-limit"], &["--resume"])
}

fn warn<T>(removed: Result<T, StuckSamples>) {
    if let Err(stuck) = removed {
        show::say("Warning", stuck);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn samples_failure(fault: SamplesFault) -> Failure {
    let help = match &fault {
        SamplesFault::Earlier(path) => {
            let path = quoted(&path.to_string_lossy());
            format!("to continue it: `{}`; to drop it: `rm {path}`", resuming())
        }
        SamplesFault::Nothing(_) => {
            format!("start it: `{}`", command_line::changed(&["--resume"], &[]))
        }
        fault => fault.help().to_owned(),
    };
    Failure::input(fault.to_string(), help)
}

/// Prints the result, to standard error if standard output fails. A closed standard output is not a
/// failure if the result `is_written`.
fn print(text: &str, is_written: bool) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| {
        if is_written && error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(141);
        }
        eprint!("{text}");
        let said = format!("cannot write to standard output: {error}; the result is printed above");
        Failure::environment(&io::Error::new(error.kind(), said))
    })
}
