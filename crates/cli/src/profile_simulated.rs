// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate profile` of a simulated drive: the tables that a drive file lacks, measured in
//! virtual time on what the file says the drive is made of.

use std::path::Path;

use measure::{Profile, ProfileParams, Progress};
use model::{DriveFile, DriveKind, Op};

use crate::arguments::ProfileArguments;
use crate::failure::Failure;
use crate::output_file::OutputFile;
use crate::{input, interrupt, profile};

/// How drive files end.
const EXTENSION: &str = ".drive.toml";

/// Whether the target is a simulated drive: a built-in one, or a drive file.
pub(crate) fn is_meant(target: &Path) -> bool {
    let name = target.as_os_str().to_string_lossy();
    drive::builtin::is_name(&name) || name.ends_with(EXTENSION)
}

/// Measures it, and writes or prints its drive file with the table that was measured.
pub(crate) fn run(arguments: &ProfileArguments) -> Result<(), Failure> {
    if arguments.create.is_some() {
        return Err(Failure::input("a simulated drive is not created", "leave --create out"));
    }
    let file = input::drive_named(&arguments.target.to_string_lossy())?;
    // It may be added to: a simulated drive is not harmed by its file changing.
    let prepare = |path| OutputFile::prepare(path, arguments.add, Path::new(""));
    let output = arguments.output.as_deref().map(prepare).transpose()?;
    if let Some(output) = &output {
        output.check_device(&file.identity)?;
    }
    let measured = measure(arguments, &file)?;
    let [table] = <[_; 1]>::try_from(measured.file.batch).expect("one table was measured");
    profile::publish(output.as_ref(), &DriveFile { batch: vec![table], ..file })
}

fn measure(arguments: &ProfileArguments, file: &DriveFile) -> Result<Profile, Failure> {
    let kind = if file.ssd.is_some() { DriveKind::Ssd } else { DriveKind::Mechanical };
    let params = ProfileParams {
        op: Op::from(arguments.op),
        size: arguments.size,
        depth: arguments.depth.unwrap_or(file.depth.min(ProfileParams::DEPTH)),
        samples: arguments.samples,
        seed: arguments.seed.unwrap_or(1),
        ..ProfileParams::new(file.name.as_str(), &device::DeviceFacts::default())
    };
    if params.depth > file.depth {
        return Err(Failure::input(
            format!("`{}` accepts {} requests, not {}", file.name, file.depth, params.depth),
            format!("ask for at most --depth {}", file.depth),
        ));
    }
    let mut drive =
        drive::from_parts(kind, file, params.seed).map_err(|error| Failure::unusable(&error))?;
    let capacity = file.capacity().expect("a drive that can be simulated has a capacity");
    profile::print_measuring(&format!("{} as {}", file.name, kind.name()), &params);
    let bar = profile::bar("batches");
    let progress = |progress: Progress| profile::show_progress(&bar, progress);
    let interrupted = interrupt::flag()?;
    let measured =
        measure::profile_drive(&mut *drive, &file.name, capacity, &params, progress, &interrupted);
    bar.finish_and_clear();
    measured.map_err(profile::profile_failure)
}
