// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A `dm_layout_g1` block: a layout by zones.

use std::collections::BTreeSet;

use tidegate_model::mechanics::{Sparing, TrackOrder, Zone, Zones};

use super::error::ImportError;
use super::report::Report;
use super::section::{Known, Section};
use super::tree::Value;

const MAPPING: &str = "LBN-to-PBN mapping scheme";
const SPARING: &str = "Sparing scheme used";
const UNITS: &str = "Skew units";
const OFFSET: &str = "Offset of first block";
const TRACK_SKEW: &str = "Skew for track switch";
const CYLINDER_SKEW: &str = "Skew for cylinder switch";

const KNOWN: Known<'_> = Known {
    represented: &[MAPPING, SPARING, UNITS, "Rangesize for sparing", "Zones"],
    neutral: &[],
};

const ZONE_KNOWN: Known<'_> = Known {
    represented: &[
        UNITS,
        OFFSET,
        TRACK_SKEW,
        CYLINDER_SKEW,
        "First cylinder number",
        "Last cylinder number",
        "Blocks per track",
        "Empty space at zone front",
        "Number of spares",
        "slips",
        "defects",
    ],
    neutral: &[],
};

/// The unit of angles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Units {
    Sectors,
    Turns,
}

/// An angle in thousandths of a sector and in millionths of a turn, one of which is 0.
type Angle = (u64, u64);

/// Returns the zones that a `dm_layout_g1` block describes.
pub(crate) fn zones(section: &Section, report: &mut Report) -> Result<Zones, ImportError> {
    section.report_ignored(&KNOWN, report);
    let (sparing, slips_keep_spares) = sparing(section)?;
    let units = units(section)?.unwrap_or(Units::Sectors);
    let range_cylinders = section.whole::<u32>("Rangesize for sparing")?;
    let Some(list) = section.list("Zones")? else {
        return section.get("Zones").map(|_| unreachable!());
    };
    let zone = list.values.iter().map(|value| match value {
        Value::Block(block) => zone(&section.inner(block), units, report),
        _ => Err(section.refuse(value, "Zones", "a block dm_layout_g1_zone")),
    });
    Ok(Zones {
        order: order(section)?,
        sparing,
        range_cylinders: range_cylinders.filter(|_| sparing == Sparing::Range),
        slips_keep_spares,
        zone: zone.collect::<Result<_, _>>()?,
    })
}

fn order(section: &Section) -> Result<TrackOrder, ImportError> {
    match section.whole_required::<u32>(MAPPING)? {
        0 => Ok(TrackOrder::Cylinder),
        1 => Ok(TrackOrder::CylinderSerpentine),
        2 => Ok(TrackOrder::CylinderSerpentineParity),
        _ => Err(section.refuse(section.get(MAPPING)?, MAPPING, "0, 1 or 2")),
    }
}

/// Returns the places of the spares, and whether slips leave the spares unused.
fn sparing(section: &Section) -> Result<(Sparing, bool), ImportError> {
    match section.whole_required::<u32>(SPARING)? {
        0 | 7 => Ok((Sparing::None, false)),
        1 => Ok((Sparing::ZoneTracks, false)),
        2 => Ok((Sparing::Cylinder, false)),
        3 => Ok((Sparing::Track, false)),
        4 => Ok((Sparing::Cylinder, true)),
        5 => Ok((Sparing::CylinderFront, false)),
        6 => Ok((Sparing::CylinderFront, true)),
        8 => Ok((Sparing::Range, false)),
        9 => Ok((Sparing::Zone, false)),
        10 => Ok((Sparing::Zone, true)),
        _ => Err(section.refuse(section.get(SPARING)?, SPARING, "a scheme from 0 to 10")),
    }
}

fn units(section: &Section) -> Result<Option<Units>, ImportError> {
    match section.word(UNITS)? {
        None => Ok(None),
        Some("sectors") => Ok(Some(Units::Sectors)),
        Some("revolutions") => Ok(Some(Units::Turns)),
        Some(_) => Err(section.refuse(section.get(UNITS)?, UNITS, "sectors or revolutions")),
    }
}

fn zone(section: &Section, disk_units: Units, report: &mut Report) -> Result<Zone, ImportError> {
    section.report_ignored(&ZONE_KNOWN, report);
    let units = units(section)?.unwrap_or(disk_units);
    let sectors_per_track: u32 = section.whole_required("Blocks per track")?;
    let angle = |name| angle(section, name, units, sectors_per_track);
    let (offset_millisectors, offset_ppm) = angle(OFFSET)?;
    let (track_skew_millisectors, track_skew_ppm) = angle(TRACK_SKEW)?;
    let (cylinder_skew_millisectors, cylinder_skew_ppm) = angle(CYLINDER_SKEW)?;
    Ok(Zone {
        cylinder_first: section.whole_required("First cylinder number")?,
        cylinder_last: section.whole_required("Last cylinder number")?,
        sectors_per_track,
        offset_millisectors,
        offset_ppm,
        skipped_sectors: section.whole("Empty space at zone front")?.unwrap_or(0),
        track_skew_millisectors,
        track_skew_ppm,
        cylinder_skew_millisectors,
        cylinder_skew_ppm,
        spares: section.whole("Number of spares")?.unwrap_or(0),
        slips: slips(section)?,
        defects: defects(section)?,
    })
}

/// Returns an angle, with whole turns added to a negative one.
fn angle(
    section: &Section,
    name: &str,
    units: Units,
    sectors_per_track: u32,
) -> Result<Angle, ImportError> {
    let (power, turn) = match units {
        Units::Sectors => (3, 1_000 * u64::from(sectors_per_track.max(1))),
        Units::Turns => (6, 1_000_000),
    };
    let mut angle = section.scaled(name, power)?.unwrap_or(0);
    if angle < 0 {
        angle = angle.rem_euclid(i128::from(turn));
    }
    let angle = u64::try_from(angle)
        .map_err(|_| section.refuse(section.get(name).expect("it is there"), name, "an angle"));
    Ok(if units == Units::Sectors { (angle?, 0) } else { (0, angle?) })
}

/// Returns the slips without duplicates.
fn slips(section: &Section) -> Result<Vec<u64>, ImportError> {
    let mut seen = BTreeSet::new();
    let mut slips: Vec<u64> = section.whole_list("slips")?;
    slips.retain(|&slip| seen.insert(slip));
    Ok(slips)
}

/// Returns pairs: a remapped sector, and the sector that replaces it.
fn defects(section: &Section) -> Result<Vec<(u64, u64)>, ImportError> {
    let flat: Vec<u64> = section.whole_list("defects")?;
    let (pairs, rest) = flat.as_chunks::<2>();
    if !rest.is_empty() {
        let value = section.get("defects")?;
        return Err(section.refuse(value, "defects", "pairs: a sector and its replacement"));
    }
    // A sector that replaces itself is not a defect.
    Ok(pairs.iter().map(|&[from, to]| (from, to)).filter(|pair| pair.0 != pair.1).collect())
}
