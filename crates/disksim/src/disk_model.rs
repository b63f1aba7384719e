// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A `dm_disk` block with its layout and its mechanism: the mechanics of a disk.

use tidegate_model::mechanics::{Layout, Seek};

use super::content::FileKind;
use super::error::ImportError;
use super::library::Library;
use super::report::Report;
use super::section::{Known, Section, TIME_NS_MAX};
use super::sources::section_of;
use super::{layout_g1, layout_g4, seek};

const SURFACES: &str = "Number of data surfaces";
const CYLINDERS: &str = "Number of cylinders";
const SECTORS: &str = "Block count";
const LAYOUT: &str = "Layout Model";
const MECHANISM: &str = "Mechanical Model";
const HEAD_SWITCH: &str = "Head switch time";
const WRITE_SETTLE: &str = "Add. write settling delay";
const RPM: &str = "Rotation speed (in rpms)";

const KNOWN: Known<'_> =
    Known { represented: &[SURFACES, CYLINDERS, SECTORS, LAYOUT, MECHANISM], neutral: &[] };

/// The contents of a `dm_disk` block.
pub(crate) struct DiskModel {
    pub(crate) rpm: u32,
    pub(crate) surfaces: u32,
    pub(crate) cylinders: u32,
    pub(crate) sectors: u64,
    pub(crate) head_switch_ns: u64,
    pub(crate) write_settle_ns: i64,
    pub(crate) seek: Seek,
    pub(crate) layout: Layout,
}

impl DiskModel {
    /// Reads a `dm_disk` block and the files that it names.
    pub(crate) fn read(
        section: &Section,
        library: &Library<'_>,
        report: &mut Report,
    ) -> Result<Self, ImportError> {
        section.report_ignored(&KNOWN, report);
        let layout_section = section_of(section, LAYOUT, FileKind::Layout, library, report)?;
        let layout = layout(&layout_section, report)?;
        let cylinders = section.whole_required(CYLINDERS)?;
        let mechanism = section_of(section, MECHANISM, FileKind::Mechanism, library, report)?;
        report_mechanism(&mechanism, report);
        Ok(Self {
            rpm: rpm(&mechanism)?,
            surfaces: section.whole_required(SURFACES)?,
            cylinders,
            sectors: section.whole_required(SECTORS)?,
            head_switch_ns: time(&mechanism, HEAD_SWITCH)?,
            write_settle_ns: time(&mechanism, WRITE_SETTLE)?,
            seek: seek::seek(&mechanism, cylinders, library, report)?,
            layout,
        })
    }
}

fn layout(section: &Section, report: &mut Report) -> Result<Layout, ImportError> {
    match section.kind() {
        "dm_layout_g1" => Ok(Layout::Zones(layout_g1::zones(section, report)?)),
        "dm_layout_g4" => Ok(Layout::Index(layout_g4::index(section, report)?)),
        kind => Err(section.document.fault(
            section.block.kind,
            format!("layouts of kind `{kind}` cannot be imported"),
            "give a dm_layout_g1 or a dm_layout_g4",
        )),
    }
}

fn rpm(mechanism: &Section) -> Result<u32, ImportError> {
    match mechanism.whole_required(RPM)? {
        0 => Err(mechanism.refuse(mechanism.get(RPM)?, RPM, "the disk's revolutions per minute")),
        rpm => Ok(rpm),
    }
}

/// Converts milliseconds to nanoseconds.
fn time<T: TryFrom<i128>>(mechanism: &Section, name: &str) -> Result<T, ImportError> {
    let value = mechanism.get(name)?;
    let time_ns = mechanism.scaled_of(value, name, 6)?;
    let time = T::try_from(time_ns).ok().filter(|_| time_ns.abs() <= TIME_NS_MAX);
    time.ok_or_else(|| mechanism.refuse(value, name, "a time in milliseconds"))
}

fn report_mechanism(mechanism: &Section, report: &mut Report) {
    let mut represented = vec!["Seek type", HEAD_SWITCH, WRITE_SETTLE, RPM];
    represented.extend(seek::used_parameters(mechanism));
    let neutral = [
        ("Access time type", "trackSwitchPlusRotation"),
        ("Constant access time", "0"),
        ("Percent error in rpms", "0"),
    ];
    mechanism.report_ignored(&Known { represented: &represented, neutral: &neutral }, report);
}
