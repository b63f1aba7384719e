// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Builds zones from their description and checks it.

use std::collections::HashSet;

use tidegate_model::mechanics::{self, MechanicsError, Sparing, TrackOrder, Zones};

use super::order::Order;
use super::sparing::{DataSlots, Regions, SlipFault};
use super::zone::{Figures, Pushed, Skew, Zone};
use crate::mechanical::layout::check::check_sectors_per_track;
use crate::mechanical::layout::remaps::{Remap, RemapConflict, Remaps};
use crate::mechanical::layout::slips::Slips;
use crate::mechanical::wrong::wrong;

/// A zone being built: its number in the file, its description, and figures that follow from it.
struct Draft<'a> {
    number: usize,
    zones: &'a Zones,
    zone: &'a mechanics::Zone,
    heads: u32,
    sectors_per_track: u32,
    cylinders: u64,
    /// The number of cylinders in a range.
    range: u64,
}

/// Builds the zones of a disk with these surfaces and cylinders, and their remapped sectors.
pub(super) fn build(
    zones: &Zones,
    surfaces: u32,
    cylinders: u32,
) -> Result<(Vec<Zone>, Remaps), MechanicsError> {
    check_order(zones)?;
    let mut built: Vec<Zone> = Vec::with_capacity(zones.zone.len());
    let mut remaps = Vec::new();
    let mut cylinder_free = 0;
    for (number, zone) in zones.zone.iter().enumerate() {
        check_cylinders(number, zone, cylinder_free, cylinders)?;
        cylinder_free = zone.cylinder_last + 1;
        let draft = Draft::new(number, zones, zone, surfaces)?;
        let start = built.last().map_or(0, Zone::end);
        let zone = draft.zone(start)?;
        draft.defects(&zone, &mut remaps)?;
        built.push(zone);
    }
    Ok((built, Remaps::new(remaps).map_err(clash)?))
}

fn check_order(zones: &Zones) -> Result<(), MechanicsError> {
    if zones.range_cylinders == Some(0) {
        return Err(wrong(
            "range_cylinders",
            "a range cannot have 0 cylinders",
            "write 1 or more, or omit it: a range is then the whole zone",
        ));
    }
    let by_cylinder = matches!(zones.sparing, Sparing::Cylinder | Sparing::CylinderFront);
    if by_cylinder && zones.order == TrackOrder::SurfaceSerpentine {
        return Err(wrong(
            "sparing",
            "spares in each cylinder need an order in which a cylinder's tracks are consecutive",
            "choose `track`, `range` or `zone`, or another `order`",
        ));
    }
    Ok(())
}

fn check_cylinders(
    number: usize,
    zone: &mechanics::Zone,
    free: u32,
    cylinders: u32,
) -> Result<(), MechanicsError> {
    let (first, last) = (zone.cylinder_first, zone.cylinder_last);
    if first < free {
        return Err(wrong(
            format!("zone {number}: cylinder_first"),
            format!("cylinder {first} belongs to the previous zone"),
            format!("write zones in order of their cylinders, this one from {free} on"),
        ));
    }
    if last < first || last >= cylinders {
        return Err(wrong(
            format!("zone {number}: cylinder_last"),
            format!("cylinders {first} to {last}, but the disk has {cylinders} cylinders"),
            "write the last cylinder of the zone, counted from 0, or correct `cylinders`",
        ));
    }
    Ok(())
}

impl<'a> Draft<'a> {
    fn new(
        number: usize,
        zones: &'a Zones,
        zone: &'a mechanics::Zone,
        heads: u32,
    ) -> Result<Self, MechanicsError> {
        let place = format!("zone {number}: sectors_per_track");
        let cylinders = u64::from(zone.cylinder_last - zone.cylinder_first) + 1;
        Ok(Self {
            number,
            zones,
            zone,
            heads,
            sectors_per_track: check_sectors_per_track(&place, zone.sectors_per_track.into())?,
            cylinders,
            range: zones.range_cylinders.map_or(cylinders, u64::from).min(cylinders),
        })
    }

    fn place(&self, field: &str) -> String {
        format!("zone {}: {field}", self.number)
    }

    fn cylinder_slots(&self) -> u64 {
        u64::from(self.heads) * u64::from(self.sectors_per_track)
    }

    fn total(&self) -> u64 {
        self.cylinders * self.cylinder_slots()
    }

    /// Returns the number of slots in one unit of `spares`, `slips` and `defects`: a sector or a
    /// whole track.
    fn unit(&self) -> u64 {
        match self.zones.sparing {
            Sparing::ZoneTracks => self.sectors_per_track.into(),
            _ => 1,
        }
    }

    fn regions(&self) -> Result<Regions, MechanicsError> {
        let slots = match self.zones.sparing {
            Sparing::None | Sparing::Zone | Sparing::ZoneTracks => self.total(),
            Sparing::Track => self.sectors_per_track.into(),
            Sparing::Cylinder | Sparing::CylinderFront => self.cylinder_slots(),
            Sparing::Range => self.range_asked() * self.cylinder_slots(),
        };
        let spares = match self.zones.sparing {
            Sparing::None => 0,
            _ => u64::from(self.zone.spares) * self.unit(),
        };
        if spares >= slots {
            return Err(wrong(
                self.place("spares"),
                format!("{spares} of every {slots} sectors are spares: no sectors are left"),
                "write fewer spares",
            ));
        }
        let is_front = self.zones.sparing == Sparing::CylinderFront;
        Ok(Regions::new(self.total(), slots, spares, is_front))
    }

    /// Returns the stated number of cylinders in a range, which can exceed the zone's cylinders.
    fn range_asked(&self) -> u64 {
        self.zones.range_cylinders.map_or(self.cylinders, u64::from)
    }

    /// Returns the slips as ascending runs of slots.
    fn slips(&self) -> Result<Vec<(u64, u64)>, MechanicsError> {
        let unit = self.unit();
        let mut slips = self.zone.slips.clone();
        slips.sort_unstable();
        if let Some(&beyond) = slips.last().filter(|&&slip| slip >= self.total() / unit) {
            return Err(self.beyond("slips", beyond));
        }
        Ok(slips.into_iter().map(|slip| (slip * unit, unit)).collect())
    }

    fn beyond(&self, field: &str, number: u64) -> MechanicsError {
        let count = self.total() / self.unit();
        wrong(
            self.place(field),
            format!("{number} is beyond the end of the zone, which has {count}"),
            "count from the first sector (with `zone-tracks`, track) of the zone, from 0",
        )
    }

    fn zone(&self, start: u64) -> Result<Zone, MechanicsError> {
        let runs = self.slips()?;
        let keeps_spares = self.zones.slips_keep_spares || self.zones.sparing == Sparing::None;
        let slots = DataSlots::new(self.regions()?, keeps_spares, &runs)
            .map_err(|fault| self.slip_fault(fault))?;
        let data = slots.data();
        if self.zone.skipped_sectors > data {
            return Err(wrong(
                self.place("skipped_sectors"),
                format!("{} sectors skipped, but the zone holds {data}", self.zone.skipped_sectors),
                format!("write at most {data}"),
            ));
        }
        Ok(Zone {
            start,
            cylinder_first: self.zone.cylinder_first,
            cylinder_last: self.zone.cylinder_last,
            heads: self.heads,
            sectors_per_track: self.sectors_per_track,
            skipped: self.zone.skipped_sectors,
            data,
            order: self.order(),
            slots,
            skew: self.skew(),
            pushed: self.pushed(runs),
        })
    }

    fn order(&self) -> Order {
        let first = self.zone.cylinder_first;
        Order::new(self.zones.order, self.heads, first, self.cylinders, self.range)
    }

    fn skew(&self) -> Skew {
        let zone = self.zone;
        let per_turn = 1_000 * u64::from(self.sectors_per_track);
        Skew {
            millisectors: Figures {
                offset: zone.offset_millisectors % per_turn,
                track: zone.track_skew_millisectors % per_turn,
                cylinder: zone.cylinder_skew_millisectors % per_turn,
            },
            ppm: Figures {
                offset: zone.offset_ppm % 1_000_000,
                track: zone.track_skew_ppm % 1_000_000,
                cylinder: zone.cylinder_skew_ppm % 1_000_000,
            },
        }
    }

    fn pushed(&self, runs: Vec<(u64, u64)>) -> Option<Pushed> {
        let is_by_cylinder = match self.zones.sparing {
            Sparing::Track => false,
            Sparing::Cylinder | Sparing::CylinderFront => true,
            _ => return None,
        };
        let slips = Slips::new(runs).expect("checked with the slots");
        (!slips.is_empty()).then_some(Pushed { slips, is_by_cylinder })
    }

    fn slip_fault(&self, fault: SlipFault) -> MechanicsError {
        let unit = self.unit();
        let (message, help) = match fault {
            SlipFault::Twice(slot) => {
                (format!("{} is listed twice", slot / unit), "list each slip once")
            }
            SlipFault::Region(slot, count) => (
                format!(
                    "{count} slips around {slot}, but only {} spares for them",
                    self.zone.spares
                ),
                "write more spares, or set `slips_keep_spares = true` to move the whole zone up",
            ),
            SlipFault::Nothing => {
                ("slips skip all sectors of the zone".to_owned(), "list fewer slips")
            }
        };
        wrong(self.place("slips"), message, help)
    }

    /// Adds the remapped sectors of the zone to `remaps`.
    fn defects(&self, zone: &Zone, remaps: &mut Vec<Remap>) -> Result<(), MechanicsError> {
        let unit = self.unit();
        let count = self.total() / unit;
        let mut known = HashSet::new();
        for &(from, to) in self.zone.defects.iter().filter(|(from, to)| from != to) {
            if let Some(&beyond) = [from, to].iter().find(|&&number| number >= count) {
                return Err(self.beyond("defects", beyond));
            }
            if !known.insert(from) {
                return Err(wrong(
                    self.place("defects"),
                    format!("{from} is listed twice"),
                    "list each sector once",
                ));
            }
            let slots = from * unit..(from + 1) * unit;
            remaps.extend(self.remap(zone, slots, to * unit)?);
        }
        Ok(())
    }

    /// Remaps the data at `slots` to the slots from `to` on; `None` if there are no data.
    fn remap(
        &self,
        zone: &Zone,
        slots: std::ops::Range<u64>,
        to: u64,
    ) -> Result<Option<Remap>, MechanicsError> {
        let unit = slots.end - slots.start;
        if zone.sectors_before(to) != zone.sectors_before(to + unit) {
            return Err(wrong(
                self.place("defects"),
                format!("{} replaces another, but holds data itself", to / unit),
                "name a spare",
            ));
        }
        let start = zone.sectors_before(slots.start);
        let count = zone.sectors_before(slots.end) - start;
        if count == 0 {
            return Ok(None);
        }
        // Skipped sectors at the front of a track are not stored anywhere.
        let (position, angles) = zone.place(to + unit - count);
        let count = u32::try_from(count).expect("at most a track");
        Ok(Some(Remap { start, count, position, angles }))
    }
}

fn clash(clash: RemapConflict) -> MechanicsError {
    wrong("defects", clash.to_string(), "give each defect a spare sector of its own")
}
