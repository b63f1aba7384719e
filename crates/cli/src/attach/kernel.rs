// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate attach` through the kernel target.

mod checks;

use tidegate_analysis::{Assessment, assess};
use tidegate_commands::{Changes, DriveChoice};
use tidegate_mapping::{
    Attachment, DeviceMapper, DeviceMapperError, Mapping, Obstacle, Promise, TableLine, Way,
    installed, of_machine, of_signs, settings, signs,
};
use tidegate_model::{Duration, Workload};
use tidegate_report::attach::Mapped;
use tidegate_report::tune::Extent;
use tidegate_tune::{Demand, Disk, NewFile, Record, Setting};

use crate::arguments::AttachArguments;
use crate::failure::Failure;
use crate::tune;
use checks::{
    check_installed, in_the_way, name, nameless, no_host, not_covered, path, unproved, users,
};

/// A workload that is proved for the kernel target, with its mapping.
pub(super) struct KernelWay<'a> {
    disk: &'a Disk,
    device_mapper: DeviceMapper,
    workload: Workload,
    assessment: Assessment,
    line: Option<TableLine>,
    mapping: Mapping,
    /// The disk's path in the table; `None` if an installation needs a permanent path and the disk
    /// has none.
    path: Option<String>,
    commands: Vec<String>,
    settings: Vec<Setting>,
    files: Vec<NewFile>,
    units: Vec<String>,
    not_covered: Vec<String>,
    reasons: Vec<String>,
    is_in_use: bool,
    extent: Extent,
}

impl<'a> KernelWay<'a> {
    /// Proves the workload under its own policy, and collects the reasons against a mapping.
    pub(super) fn new(
        disk: &'a Disk,
        arguments: &AttachArguments,
        attached: Option<&Attachment>,
    ) -> Result<Self, Failure> {
        let drive = arguments.change.drive.clone().map(DriveChoice::Named);
        let changes = Changes { drive, ..Changes::default() };
        let input = tidegate_commands::read(&arguments.workload, &changes, &[])?;
        let file = tune::workload_file(&arguments.workload)?;
        let workload = input.workload;
        let assessment = assess(&workload, workload.policy);
        let plan = assessment.plan(&workload);
        let is_change = arguments.change.is_some();
        let device_mapper = super::device_mapper(&arguments.machine, is_change)?;
        let obstacles = of_machine(disk.root(), &device_mapper);
        let mut reasons: Vec<_> = obstacles.iter().map(Obstacle::to_string).collect();
        let signs = signs(&file, &workload, disk.root());
        reasons.extend(of_signs(disk.root(), &signs).map(|it| it.to_string()));
        let line = TableLine::new(&workload, &plan, &signs, 0);
        reasons.extend(line.as_ref().err().map(ToString::to_string));
        if line.is_ok() {
            reasons.extend(unproved(&assessment, &arguments.workload));
        }
        reasons.extend(no_host(&workload));
        let demand = Demand { depth: plan.depth, ..Demand::of(&workload, &[], plan.depth) };
        let measured = input.drive.identity.model.as_deref();
        let users = users(disk, arguments, attached);
        let is_in_use = !users.is_empty();
        reasons.extend(users);
        reasons.extend(in_the_way(disk, &demand, measured, attached));
        let line = line.ok();
        let path = path(disk, arguments);
        reasons.extend(path.is_none().then(|| nameless(disk)));
        let name = name(disk, arguments, attached, path.as_deref())?;
        check_installed(disk, arguments, attached)?;
        let mapping = Mapping {
            table: line.as_ref().map_or_else(String::new, |line| {
                line.table(path.as_deref().unwrap_or_default(), disk.sectors().unwrap_or_default())
            }),
            uuid: Mapping::uuid_of(disk),
            name,
        };
        let exists = match mapping.is_there(&device_mapper) {
            Ok(exists) => exists,
            Err(error @ DeviceMapperError::OtherDisk { .. }) => {
                reasons.push(error.to_string());
                false
            }
            // Only the administrator can query the device mapper; a dry run proceeds without the
            // answer.
            Err(error) if is_change && reasons.is_empty() => {
                return Err(Failure::environment(&error));
            }
            Err(_) => attached.is_some(),
        };
        let steps = mapping.steps(exists);
        let commands = steps.iter().map(|step| step.command("dmsetup")).collect();
        let settings = settings(disk, &plan, workload.size_max());
        let units = file.units().iter().filter(|unit| unit.is_real_time);
        let units: Vec<_> = units.map(|unit| unit.name.clone()).collect();
        let not_covered = not_covered(disk, &workload, &units, &mapping.table);
        Ok(Self {
            disk,
            device_mapper,
            workload,
            assessment,
            line,
            mapping,
            path,
            commands,
            settings,
            files: Vec::new(),
            units,
            not_covered,
            reasons,
            is_in_use,
            extent: Extent::Shown,
        })
    }

    /// Returns the reasons why no mapping can be made.
    pub(super) fn reasons(&self) -> &[String] {
        &self.reasons
    }

    /// Returns whether the disk has other users.
    pub(super) const fn is_in_use(&self) -> bool {
        self.is_in_use
    }

    /// Makes the mapping if the arguments request it.
    pub(super) fn carry_out(
        &mut self,
        arguments: &AttachArguments,
        attached: Option<&Attachment>,
    ) -> Result<(), Failure> {
        if arguments.change.install {
            let Self { disk, settings, mapping, path, units, .. } = self;
            let path = path.as_deref().unwrap_or_default();
            let files = installed(disk, settings, mapping, path, units);
            self.files = files.ok_or_else(|| {
                Failure::input(nameless(disk), "write --apply instead of --install")
            })?;
        }
        if arguments.change.is_some() {
            self.make(arguments.change.install, attached)?;
            self.extent =
                if arguments.change.install { Extent::Installed } else { Extent::Applied };
        }
        Ok(())
    }

    /// Makes the settings, the files and the mapping, and records all of them first. If that fails,
    /// a new attachment is undone, and an earlier one remains unchanged.
    fn make(&self, is_installed: bool, attached: Option<&Attachment>) -> Result<(), Failure> {
        let record = |attachment: &Attachment| {
            attachment.save(self.disk).map_err(|error| Failure::environment(&error))
        };
        let boot = self.disk.root().boot();
        let mapping = Some(self.promise());
        let before = Record::of(self.disk).map_err(tune::failure)?;
        let files = before.map(|record| record.files()).unwrap_or_default();
        let device = Some(self.disk.name().to_owned());
        record(&Attachment { device, way: Way::Kernel, is_installed, boot, mapping })?;
        let made = self.make_recorded();
        if made.is_err() {
            match attached {
                Some(attached) => {
                    Record::make(self.disk, &[], &files, &[]).map_err(tune::failure)?;
                    record(attached)?;
                }
                None => self.undo()?,
            }
        }
        made
    }

    fn promise(&self) -> Promise {
        let Mapping { name, table, .. } = self.mapping.clone();
        let bounds = self.assessment.tasks.iter().filter_map(|task| task.response_max);
        let response = bounds.map(|(response, _)| response).max().unwrap_or(Duration::ZERO);
        let submit = self.workload.host.time().submit;
        Promise { name, table, response_ns_max: response.ns(), submit_ns_max: submit.ns() }
    }

    /// Loads the new table of an existing mapping before settings and files change, because the
    /// kernel may refuse the table.
    fn make_recorded(&self) -> Result<(), Failure> {
        let Self { mapping, device_mapper, .. } = self;
        let failure = |error: DeviceMapperError| Failure::environment(&error);
        let exists = mapping.is_there(device_mapper).map_err(failure)?;
        let before =
            if exists { device_mapper.table(&mapping.name).map_err(failure)? } else { None };
        let Some(before) = before else {
            self.make_settings()?;
            return mapping.create(device_mapper).map_err(failure);
        };
        mapping.load(device_mapper).map_err(failure)?;
        let made = self
            .make_settings()
            .and_then(|()| mapping.resume(device_mapper, &before).map_err(failure));
        if made.is_err() {
            mapping.clear(device_mapper);
        }
        made
    }

    fn make_settings(&self) -> Result<(), Failure> {
        Record::make(self.disk, &self.settings, &self.files, &[]).map_err(tune::failure)
    }

    fn undo(&self) -> Result<(), Failure> {
        let record = Record::of(self.disk).map_err(tune::failure)?;
        record.map(|record| record.undo(self.disk)).transpose().map_err(tune::failure)?;
        Attachment::forget(self.disk).map_err(|error| Failure::environment(&error))
    }

    /// Returns the report's parts that concern the mapping.
    pub(super) fn mapped(&self) -> Mapped<'_> {
        Mapped {
            workload: &self.workload,
            assessment: &self.assessment,
            contracts: self.line.as_ref().map_or(&[], TableLine::contracts),
            name: &self.mapping.name,
            table: &self.mapping.table,
            commands: &self.commands,
            settings: &self.settings,
            files: &self.files,
            units: &self.units,
            not_covered: &self.not_covered,
            extent: self.extent,
        }
    }
}
