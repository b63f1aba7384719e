// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The tables of a drive file for requests that never occur in some families of places.

use super::places::{FamilyTimes, PlaceFamily, kept, longest_without, missing};
use super::tables::{MeasuredTable, raised_table};
use super::{DriveFile, MixedBatches};
use crate::units::Duration;

impl MeasuredTable {
    /// Returns the longest times at random places. For a table without families, these are all its
    /// maxima.
    pub fn random_ns_max(&self) -> &[u64] {
        let random = self.families.iter().find(|it| it.places == PlaceFamily::Random);
        let whole = random.filter(|it| it.ns_max.len() == self.ns_max.len());
        whole.map_or(&self.ns_max, |it| &it.ns_max)
    }

    /// Returns whether the table was measured at random places, as every table without families
    /// was.
    pub fn is_of_random_places(&self) -> bool {
        let is_random = |it: &FamilyTimes| it.places == PlaceFamily::Random;
        self.families.is_empty() || self.families.iter().any(is_random)
    }

    /// Returns the families of places at which this table was not measured. An inline table states
    /// its maxima for all places.
    pub fn missing_families(&self) -> Vec<PlaceFamily> {
        let is_inline = self.op.is_none();
        if is_inline { Vec::new() } else { missing(&self.families, self.ns_max.len()) }
    }

    /// Returns the table for requests that are never at places of the `absent` families.
    #[must_use]
    pub fn without_places(&self, absent: &[PlaceFamily]) -> Self {
        let ns_max = longest_without(&self.ns_max, &self.families, absent);
        Self {
            table: raised_table(&ns_max),
            ns_max,
            families: kept(&self.families, absent),
            ..self.clone()
        }
    }
}

impl DriveFile {
    /// Returns the file for requests that are never at places of the `absent` families: every table
    /// is the longest of the other families. `[cost]` is kept, because it covers all families.
    #[must_use]
    pub fn without_places(&self, absent: &[PlaceFamily]) -> Self {
        let without = |tables: &[MeasuredTable]| {
            tables.iter().map(|table| table.without_places(absent)).collect()
        };
        let of_mixed = |mixed: &MixedBatches| MixedBatches {
            ns_max: longest_without(&mixed.ns_max, &mixed.places, absent),
            places: kept(&mixed.places, absent),
            ..mixed.clone()
        };
        let starved = self.starvation_max.map(|longest| {
            let ns = longest_without(&[longest.ns()], &self.starvation_places, absent);
            Duration::from_ns(ns[0])
        });
        Self {
            batch: without(&self.batch),
            drain: without(&self.drain),
            priority: without(&self.priority),
            mixed: self.mixed.iter().map(of_mixed).collect(),
            starvation_max: starved,
            starvation_places: kept(&self.starvation_places, absent),
            ..self.clone()
        }
    }
}
