// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Layouts by zones against DiskSim's rules, written again in the plainest way.
//!
//! DiskSim walks through the list of slips for each sector. This oracle does the same, sector by
//! sector, with angles in whole sectors. Where DiskSim puts two sectors at one position, or a
//! sector at none, the oracle returns `None`.

use proptest::prelude::*;
use tidegate_drive::mechanical::{Angle, Layout, Position};
use tidegate_model::Lba;
use tidegate_model::mechanics::{Sparing, TrackOrder, Zone, Zones};

use super::layout_support::{plain, zone, zoned};

/// A disk of one zone.
#[derive(Debug, Clone)]
struct Oracle {
    heads: u64,
    cylinders: u64,
    cylinder_first: u64,
    per_track: u64,
    skipped: u64,
    spares: u64,
    range: u64,
    slips: Vec<u64>,
    offset: u64,
    track_skew: u64,
    cylinder_skew: u64,
    mapping: u64,
    scheme: u64,
}

impl Oracle {
    fn per_cylinder(&self) -> u64 {
        self.heads * self.per_track
    }

    /// Counts the slips, among the slots from `begin` on, that lie before data sector number `data`
    /// of these slots.
    fn over(&self, begin: u64, data: u64) -> u64 {
        let mut over = 0;
        for &slip in &self.slips {
            if slip >= begin && slip - begin <= data + over {
                over += 1;
            }
        }
        over
    }

    /// Returns the slot of a data sector in regions of `slots` slots, `spares` of which are spare.
    fn in_region(&self, data: u64, slots: u64) -> Option<u64> {
        let per_region = slots - self.spares;
        let (region, into) = (data / per_region, data % per_region);
        let slot = into + self.over(region * slots, into);
        (slot < slots).then_some(region * slots + slot)
    }

    fn slot(&self, sector: u64) -> Option<u64> {
        let data = sector + self.skipped;
        match self.scheme {
            1 => {
                let track = data / self.per_track;
                Some((track + self.over(0, track)) * self.per_track + data % self.per_track)
            }
            2 => self.in_region(data, self.per_cylinder()),
            3 => self.in_region(data, self.per_track),
            8 => self.in_region(data, self.per_cylinder() * self.range),
            7 => self.in_cylinder(data),
            _ => Some(data + self.over(0, data)),
        }
    }

    /// Scheme 7: each slip on an earlier cylinder moves the data by one slot. Returns `None` if
    /// this moves a data sector past the end of a cylinder, because DiskSim then overlooks the next
    /// cylinder's slips.
    fn in_cylinder(&self, data: u64) -> Option<u64> {
        let slots = self.per_cylinder();
        let (cylinder, into) = (data / slots, data % slots);
        let mut over = 0;
        for &slip in &self.slips {
            let is_earlier = slip / slots < cylinder;
            if is_earlier || slip >= cylinder * slots && slip - cylinder * slots <= into + over {
                over += 1;
            }
        }
        (into + over < slots).then_some(cylinder * slots + into + over)
    }

    fn sectors(&self) -> u64 {
        let total = self.cylinders * self.per_cylinder() - self.skipped;
        let slips = self.slips.len() as u64;
        total
            - match self.scheme {
                1 => self.spares * self.per_track,
                2 => self.spares * self.cylinders,
                3 => self.spares * self.cylinders * self.heads,
                7 => slips,
                8 => self.spares * (self.cylinders / self.range),
                9 => self.spares,
                _ => self.spares + slips,
            }
    }

    /// Keeps only the slips of slots or tracks that hold data, and no more of them than DiskSim has
    /// room for.
    fn limit_slips(&mut self) {
        let slots = self.cylinders * self.per_cylinder();
        let end = match self.scheme {
            1 => self.cylinders * self.heads,
            8 => self.cylinders / self.range * self.range * self.per_cylinder(),
            10 => slots - self.spares,
            _ => slots,
        };
        self.slips.retain(|&slip| slip < end);
        if !matches!(self.scheme, 7 | 10) {
            self.slips.truncate(usize::try_from(self.spares).unwrap());
        }
    }

    /// Returns the position and the angle in sectors.
    fn place(&self, slot: u64) -> (Position, u64) {
        let cylinder = slot / self.per_cylinder();
        let turn = slot / self.per_track % self.heads;
        let is_odd = match self.mapping {
            0 => false,
            1 => cylinder % 2 == 1,
            _ => (cylinder + self.cylinder_first) % 2 == 1,
        };
        let head = if is_odd { self.heads - 1 - turn } else { turn };
        let pushed = match self.scheme {
            2 => self.slips_before(cylinder * self.per_cylinder()),
            3 => self.slips_before(slot / self.per_track * self.per_track),
            _ => 0,
        };
        let angle = self.offset
            + (turn + (self.heads - 1) * cylinder) * self.track_skew
            + cylinder * self.cylinder_skew
            + pushed
            + slot % self.per_track;
        let [cylinder, head, sector] =
            [cylinder + self.cylinder_first, head, slot % self.per_track].map(narrow);
        (Position { cylinder, head, sector }, angle % self.per_track)
    }

    fn slips_before(&self, slot: u64) -> u64 {
        self.slips.iter().filter(|&&slip| slip < slot).count() as u64
    }

    fn zones(&self) -> Zones {
        let first = narrow(self.cylinder_first);
        let zone = Zone {
            offset_millisectors: 1_000 * self.offset,
            track_skew_millisectors: 1_000 * self.track_skew,
            cylinder_skew_millisectors: 1_000 * self.cylinder_skew,
            skipped_sectors: self.skipped,
            spares: narrow(self.spares),
            // DiskSim's models have some slips out of order.
            slips: self.slips.iter().rev().copied().collect(),
            ..zone(first, first + narrow(self.cylinders) - 1, narrow(self.per_track))
        };
        let (sparing, slips_keep_spares) = match self.scheme {
            1 => (Sparing::ZoneTracks, false),
            2 => (Sparing::Cylinder, false),
            3 => (Sparing::Track, false),
            7 => (Sparing::None, false),
            8 => (Sparing::Range, false),
            9 => (Sparing::Zone, false),
            _ => (Sparing::Zone, true),
        };
        let order = match self.mapping {
            0 => TrackOrder::Cylinder,
            1 => TrackOrder::CylinderSerpentine,
            _ => TrackOrder::CylinderSerpentineParity,
        };
        let range_cylinders = Some(narrow(self.range));
        Zones { order, sparing, slips_keep_spares, range_cylinders, ..plain(vec![zone]) }
    }
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).expect("a small disk")
}

prop_compose! {
    fn oracle()(
        (heads, cylinders, cylinder_first, per_track) in (1_u64..5, 4_u64..9, 0_u64..3, 6_u64..20),
        (skipped, spares, range) in (0_u64..6, 1_u64..4, 1_u64..4),
        slips in proptest::collection::btree_set(prop_oneof![0_u64..20, 0_u64..300], 0..6),
        (offset, track_skew, cylinder_skew) in (0_u64..40, 0_u64..40, 0_u64..40),
        mapping in 0_u64..3,
        scheme in prop::sample::select(vec![1_u64, 2, 3, 7, 8, 9, 10]),
    ) -> Oracle {
        let mut oracle = Oracle {
            heads, cylinders, cylinder_first, per_track, skipped, spares, range,
            slips: slips.into_iter().collect(), offset,
            track_skew, cylinder_skew, mapping, scheme,
        };
        oracle.limit_slips();
        oracle
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn places_and_angles_are_those_of_disksim(oracle in oracle()) {
        let mechanics = zoned(narrow(oracle.heads), 20, oracle.sectors(), &oracle.zones());
        let layout = Layout::new(&mechanics).unwrap();
        for sector in 0..oracle.sectors() {
            let Some(slot) = oracle.slot(sector) else { continue };
            let (position, angle) = oracle.place(slot);
            prop_assert_eq!(layout.position(Lba::new(sector)), position, "sector {}", sector);
            let begin = layout.extent(Lba::new(sector), 1).begin;
            prop_assert_eq!(begin, Angle::of_turn(angle, oracle.per_track), "sector {}", sector);
        }
    }
}
