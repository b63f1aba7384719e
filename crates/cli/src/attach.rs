// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate attach`, `detach` and `status`: put a workload's guarantee in front of a disk, for
//! every program that uses it.

mod kernel;
mod status;

use std::path::Path;

use tidegate_mapping::{Attachment, DeviceMapper, DeviceMapperError, Mapping, Way, name_of_own};
use tidegate_report::attach::{AttachReport, Considered, DetachReport};
use tidegate_tune::{Disk, Record, Root};

use crate::answer::Answer;
use crate::arguments::{AttachArguments, AttachedArguments, DiskArguments, MachineArguments};
use crate::failure::Failure;
use crate::{show, tune};
use kernel::KernelWay;
pub(crate) use status::status;

const NO_UBLK: &str = "Tidegate has no server for ublk yet";
const IN_USE: &str =
    "the disk is in use: `--via stock` takes this way, which keeps the disk's users";

/// The program that changes the mappings of this computer.
const DMSETUP: &str = "dmsetup";

/// Returns the device mapper. A rehearsal must not change the mappings of this computer.
fn device_mapper(machine: &MachineArguments, is_change: bool) -> Result<DeviceMapper, Failure> {
    if is_change && machine.disk.root != Path::new("/") && machine.dmsetup == DMSETUP {
        return Err(Failure::input(
            format!(
                "`{DMSETUP}` would change this machine, not the one in {}",
                machine.disk.root.display()
            ),
            "name a program of the rehearsal with --dmsetup",
        ));
    }
    Ok(DeviceMapper::new(&machine.dmsetup))
}

/// Runs `attach`.
pub(crate) fn attach(arguments: &AttachArguments) -> Result<Answer, Failure> {
    let disk = tune::find(&arguments.machine.disk)?;
    if arguments.change.is_some() {
        end_what_is_over(&disk)?;
    }
    let attached = Attachment::of(&disk).map_err(|error| Failure::environment(&error))?;
    let asked = arguments.via.map(Way::from);
    let mut ways = Vec::new();
    let mut is_in_use = false;
    for way in Way::ALL.into_iter().filter(|&way| asked.is_none_or(|asked| asked == way)) {
        let answer = match way {
            Way::Kernel => {
                let kernel = KernelWay::new(&disk, arguments, attached.as_ref())?;
                is_in_use = kernel.is_in_use();
                by_kernel(&disk, arguments, attached.as_ref(), kernel, &mut ways)?
            }
            Way::Ublk => {
                ways.push(Considered { way, reasons: vec![NO_UBLK.to_owned()] });
                None
            }
            // A disk in use only has to be unmounted to be attached through the kernel target,
            // which its user expects because that guarantee is stronger.
            Way::Stock if is_in_use => {
                ways.push(Considered { way, reasons: vec![IN_USE.to_owned()] });
                None
            }
            Way::Stock => by_stock(&disk, arguments, attached.as_ref(), &mut ways)?,
        };
        if let Some(answer) = answer {
            return Ok(answer);
        }
    }
    show::report_in(&AttachReport::refused(disk.name(), asked.is_some(), &ways), arguments.form);
    Ok(Answer::No)
}

/// Attaches a disk through the kernel target; `None`, with the reasons in `ways`, if that is not
/// possible.
fn by_kernel(
    disk: &Disk,
    arguments: &AttachArguments,
    attached: Option<&Attachment>,
    mut kernel: KernelWay<'_>,
    ways: &mut Vec<Considered>,
) -> Result<Option<Answer>, Failure> {
    ways.push(Considered { way: Way::Kernel, reasons: kernel.reasons().to_vec() });
    if !kernel.reasons().is_empty() {
        return Ok(None);
    }
    kernel.carry_out(arguments, attached)?;
    let report = AttachReport::refused(disk.name(), arguments.via.is_some(), ways);
    show::report_in(&report.kernel(kernel.mapped()), arguments.form);
    Ok(Some(Answer::Yes))
}

/// Attaches a disk through the kernel's own scheduler, as `tune` does; `None`, with the reasons in
/// `ways`, if that is not possible.
fn by_stock(
    disk: &Disk,
    arguments: &AttachArguments,
    attached: Option<&Attachment>,
    ways: &mut Vec<Considered>,
) -> Result<Option<Answer>, Failure> {
    let way = Way::Stock;
    let mut refuse = |reasons| {
        ways.push(Considered { way, reasons });
        Ok(None)
    };
    if let Some(reason) = taken(disk, way, attached) {
        return refuse(vec![reason]);
    }
    let prepared = match tune::Prepared::new(disk, &arguments.workload, &arguments.change) {
        Ok(prepared) => prepared,
        Err(failure) if arguments.via.is_some() => return Err(failure),
        Err(failure) => return refuse(vec![failure.message()]),
    };
    let reasons = prepared.reasons();
    if !reasons.is_empty() {
        return refuse(reasons);
    }
    if arguments.change.is_some() {
        let is_installed =
            arguments.change.install || attached.is_some_and(|attached| attached.is_installed);
        let boot = disk.root().boot();
        let device = Some(disk.name().to_owned());
        let record = Attachment { device, way, is_installed, boot, mapping: None };
        record.save(disk).map_err(|error| Failure::environment(&error))?;
    }
    let made = prepared.carry_out(disk, &arguments.change);
    let is_untouched = || Record::of(disk).is_ok_and(|record| record.is_none());
    if made.is_err() && is_untouched() {
        Attachment::forget(disk).map_err(|error| Failure::environment(&error))?;
    }
    let extent = made?;
    ways.push(Considered { way, reasons });
    let report = AttachReport::refused(disk.name(), arguments.via.is_some(), ways);
    let services = prepared.running(disk);
    let file_systems = disk.file_systems();
    let stock = prepared.report(disk, &arguments.change, extent, &services, &file_systems);
    show::report_in(&report.stock(stock), arguments.form);
    Ok(Some(Answer::Yes))
}

/// Returns the reason why a disk that is tuned, or attached in one way, cannot be attached in
/// another.
fn taken(disk: &Disk, way: Way, attached: Option<&Attachment>) -> Option<String> {
    let name = disk.name();
    match attached {
        Some(attached) if attached.way != way => {
            let way = attached.way.name();
            Some(format!("`{name}` is attached by {way}: run `tidegate detach {name}` first"))
        }
        Some(_) => None,
        None => {
            if let Some(mapping) = name_of_own(disk, &Mapping::uuid_of(disk)) {
                return Some(format!(
                    "/dev/mapper/{mapping} is in front of `{name}` and has no record: run `tidegate detach {name}` \
                     first"
                ));
            }
            let is_over = Attachment::is_over(disk).unwrap_or(false);
            let is_tuned = !is_over && Record::of(disk).is_ok_and(|record| record.is_some());
            is_tuned.then(|| format!("`{name}` is tuned: run `tidegate tune {name} --undo` first"))
        }
    }
}

/// Removes the record of an attachment that ended with a restart.
fn end_what_is_over(disk: &Disk) -> Result<(), Failure> {
    if Attachment::is_over(disk).map_err(|error| Failure::environment(&error))? {
        Record::forget_settings(disk).map_err(tune::failure)?;
        Attachment::forget(disk).map_err(|error| Failure::environment(&error))?;
    }
    Ok(())
}

/// Finds an attached disk, even if the disk is gone.
fn attached_disk(arguments: &DiskArguments) -> Result<Disk, Failure> {
    let DiskArguments { device, root } = arguments;
    let found = tune::find(arguments);
    if let Ok(disk) = &found
        && (Attachment::of(disk).is_ok_and(|attached| attached.is_some())
            || name_of_own(disk, &Mapping::uuid_of(disk)).is_some())
    {
        return found;
    }
    let gone = Attachment::gone(&Root::new(root), device, found.is_err())
        .map_err(|error| Failure::environment(&error))?;
    tune::only_one(gone, device).unwrap_or(found)
}

/// Runs `detach`.
pub(crate) fn detach(arguments: &AttachedArguments) -> Result<Answer, Failure> {
    let disk = attached_disk(&arguments.machine.disk)?;
    end_what_is_over(&disk)?;
    let attached = Attachment::of(&disk).map_err(|error| Failure::environment(&error))?;
    let mut report = DetachReport {
        device: disk.name(),
        via: attached.as_ref().map(|attached| attached.way),
        mapping: None,
        undone: tidegate_tune::Undone::default(),
    };
    let recorded = attached.as_ref().and_then(|attached| attached.mapping.as_ref());
    // Even if the record is lost, the disk still shows its own mapping.
    let found = name_of_own(&disk, &Mapping::uuid_of(&disk));
    let name = found.as_ref().or(recorded.map(|promise| &promise.name));
    if let Some(name) = name {
        let device_mapper = device_mapper(&arguments.machine, true)?;
        let mapping = mapping_of(&disk, name, String::new());
        if is_there(&mapping, &device_mapper)? {
            mapping.remove(&device_mapper).map_err(|error| device_failure(&error))?;
            report.mapping = Some(name);
        }
    }
    if attached.is_some() {
        let record = Record::of(&disk).map_err(tune::failure)?;
        let undone = record.map(|record| record.undo(&disk)).transpose().map_err(tune::failure)?;
        report.undone = undone.unwrap_or_default();
        Attachment::forget(&disk).map_err(|error| Failure::environment(&error))?;
    }
    show::report_in(&report, arguments.form);
    Ok(Answer::Yes)
}

/// Returns whether the mapping exists on its own disk. A mapping of the same name on another disk
/// does not count.
fn is_there(mapping: &Mapping, device_mapper: &DeviceMapper) -> Result<bool, Failure> {
    match mapping.is_there(device_mapper) {
        Err(DeviceMapperError::OtherDisk { .. }) => Ok(false),
        is_there => is_there.map_err(|error| device_failure(&error)),
    }
}

fn mapping_of(disk: &Disk, name: &str, table: String) -> Mapping {
    Mapping { name: name.to_owned(), table, uuid: Mapping::uuid_of(disk) }
}

/// Converts an error of the device mapper.
fn device_failure(error: &DeviceMapperError) -> Failure {
    Failure::environment(error)
}
