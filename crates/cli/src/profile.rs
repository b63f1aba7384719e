// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate profile`: measure the device, write a drive file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use device::{Access, Target, realtime};
use indicatif::{ProgressBar, ProgressStyle};
use measure::{ProfileError, ProfileParams, Progress};
use model::{DriveFile, Op};

use crate::Answer;
use crate::arguments::ProfileArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::show;

/// Runs the command.
pub(crate) fn profile(arguments: &ProfileArguments) -> Result<Answer, Failure> {
    let op = Op::from(arguments.op);
    if op == Op::Write && !arguments.allow_writes {
        return Err(Failure::input(
            "measuring writes destroys what is on the target",
            "add --allow-writes if that is meant",
        ));
    }
    let output = arguments.output.as_deref().map(|path| Output::open(path, arguments.add));
    let output = output.transpose()?;
    let interrupted = interrupt::flag()?;
    let target = open_target(arguments, op, &interrupted)?;
    let params = params(arguments, op, &target);
    print_head(&target, &params);
    let bar = bar("batches");
    let progress = |progress: Progress| {
        show_progress(&bar, progress);
        if arguments.time_limit.is_some_and(|limit| progress.elapsed >= limit) {
            interrupted.store(true, Ordering::Relaxed);
        }
    };
    let profile = measure::profile(&target, &params, progress, &interrupted);
    bar.finish_and_clear();
    let profile = profile.map_err(profile_failure)?;
    for warning in &profile.warnings {
        eprintln!("{:<12} {warning}", "Warning");
    }
    match output {
        None => print!("{}", profile.file.to_toml()),
        Some(output) => {
            print_table(&profile.file);
            output.write(&profile.file)?;
        }
    }
    Ok(Answer::Yes)
}

fn open_target(
    arguments: &ProfileArguments,
    op: Op,
    interrupted: &AtomicBool,
) -> Result<Target, Failure> {
    let path = &arguments.target;
    let access = if op == Op::Write { Access::ReadWrite } else { Access::ReadOnly };
    let Some(size) = arguments.create else {
        return Target::open(path, access).map_err(|error| Failure::unusable(&error));
    };
    let bar = bar("bytes");
    bar.set_length(size.get());
    let made =
        Target::create(path, size, access, |written| bar.set_position(written.get()), interrupted);
    bar.finish_and_clear();
    made.map_err(|error| Failure::unusable(&error))
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
    if let Some(real_time) = &params.real_time {
        eprintln!("{:<12} {real_time}", "Host");
    }
}

fn bar(unit: &str) -> ProgressBar {
    let bar = ProgressBar::no_length();
    let count = if unit == "bytes" { "{bytes} of {total_bytes}" } else { "{pos} of {len} batches" };
    let template = format!("{{bar:40}} {{percent:>3}} %  {count}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is fixed");
    bar.set_style(style.progress_chars("=> "));
    bar
}

fn show_progress(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.total);
    bar.set_position(progress.done);
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn profile_failure(error: ProfileError) -> Failure {
    match error {
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
        let per_request = measured.ns_max[n - 1] / n as u64;
        vec![
            n.to_string(),
            ms(p50[n - 1]),
            ms(p999[n - 1]),
            ms(measured.ns_max[n - 1]),
            ms(per_request),
            format!("{}.{:02}", single / per_request, single * 100 / per_request % 100),
        ]
    });
    let header = ["requests", "median", "99.9 %", "b(i): maximum", "per request", "b(1) over that"];
    println!();
    print!("{}", show::table(&header, rows.collect(), 0));
    println!();
    if let Some(confidence) = &measured.confidence {
        show::labelled("Confidence", confidence);
    }
}

/// Where the drive file goes; made before anything is measured, so that hours of
/// measurement are not lost to a folder that cannot be written.
struct Output {
    path: PathBuf,
    partial: PathBuf,
    /// What stands there already and is added to.
    existing: Option<DriveFile>,
}

impl Output {
    fn open(path: &Path, add: bool) -> Result<Self, Failure> {
        let existing = match (fs::read_to_string(path), add) {
            (Ok(text), true) => Some(
                DriveFile::parse(&text).map_err(|error| Failure::in_file(path, text, &error))?,
            ),
            (Ok(_), false) => {
                return Err(Failure::input(
                    format!("{} exists, and a measurement is not overwritten", path.display()),
                    "name a new file, or add this table to it with --add",
                ));
            }
            (Err(_), true) => {
                return Err(Failure::input(
                    format!("there is no drive file {} to add to", path.display()),
                    "leave --add out to make a new one",
                ));
            }
            (Err(_), false) => None,
        };
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let output = Self { path: path.to_owned(), partial: partial.into(), existing };
        fs::write(&output.partial, "").map_err(|error| output.unwritable(&error))?;
        Ok(output)
    }

    /// Puts the measured table in place: a reader sees the old file or the new one.
    fn write(&self, measured: &DriveFile) -> Result<(), Failure> {
        let file = match &self.existing {
            None => measured.clone(),
            Some(existing) => with_tables_of(existing, measured),
        };
        fs::write(&self.partial, file.to_toml())
            .and_then(|()| fs::rename(&self.partial, &self.path))
            .map_err(|error| self.unwritable(&error))?;
        show::labelled("Written", &self.path.display().to_string());
        Ok(())
    }

    fn unwritable(&self, error: &std::io::Error) -> Failure {
        Failure::input(
            format!("cannot write {}: {error}", self.path.display()),
            "name a file in a folder that exists and may be written",
        )
    }
}

impl Drop for Output {
    /// An unfinished file is of no use to anybody; after `write` there is none.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.partial);
    }
}

/// `existing` with the tables of `measured`, which replace those of the same kind.
fn with_tables_of(existing: &DriveFile, measured: &DriveFile) -> DriveFile {
    let mut file = existing.clone();
    for table in &measured.batch {
        file.batch.retain(|known| (known.op, known.size) != (table.op, table.size));
        file.batch.push(table.clone());
    }
    file.depth = file.depth.max(measured.depth);
    file.identity.host.extend(measured.identity.host.iter().cloned());
    file
}
