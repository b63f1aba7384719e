// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Families of places: a time of a disk is the longest only for the places at which it was measured.
//!
//! Each table of a drive file keeps the longest times of every family apart, so that a reader sees
//! which places they come from, and a workload that states that some places do not occur is charged
//! without them. A table's own `ns_max` is the longest of all families.

use serde::{Deserialize, Serialize};

use super::tables::{MeasuredTable, TIME_NS_MAX, raised_table};
use super::{DriveFile, MixedBatches};
use crate::units::Duration;

names! {
    /// A family of places: how the places of the requests in a trial are chosen.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PlaceFamily {
        /// Anywhere on the device, uniformly.
        Random => "random",
        /// The lowest and the highest part of the device by turns.
        BothEnds => "both_ends",
        /// A few narrow parts of the device.
        Clusters => "clusters",
        /// One track and its neighbours.
        Track => "track",
        /// One place after another.
        Sequential => "sequential",
        /// Places, their order and the starting position of the heads from a search for the longest
        /// time.
        Climbed => "climbed",
    }
}

/// The longest times at the places of one family.
///
/// # Shape
/// Every list has an entry for each entry of the table that it belongs to, from the first on. A
/// family whose measurement was interrupted has fewer. `ns_p50` and `ns_p99` are as long as
/// `ns_max`, or empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyTimes {
    /// The family.
    pub places: PlaceFamily,
    /// Number of samples of each entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Whether these are the samples of a pilot only, which found the family far below another one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub screened: bool,
    /// The longest measured times, in ns.
    pub ns_max: Vec<u64>,
    /// The 99 % quantiles, in ns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ns_p99: Vec<u64>,
    /// The medians, in ns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ns_p50: Vec<u64>,
}

impl FamilyTimes {
    /// Returns the times of a family without quantiles, all of them measured in full.
    pub fn new(places: PlaceFamily, samples: Option<u64>, ns_max: Vec<u64>) -> Self {
        Self { places, samples, screened: false, ns_max, ns_p99: Vec::new(), ns_p50: Vec::new() }
    }
}

/// Returns the families whose times do not reach `entries` entries. Times without families were
/// measured at random places.
pub fn missing(families: &[FamilyTimes], entries: usize) -> Vec<PlaceFamily> {
    let is_whole = |family: PlaceFamily| match families {
        [] => family == PlaceFamily::Random,
        _ => families.iter().any(|it| it.places == family && it.ns_max.len() >= entries),
    };
    PlaceFamily::ALL.into_iter().filter(|&family| !is_whole(family)).collect()
}

/// Returns the longest time of all families but those `absent`, entry by entry.
///
/// An entry of `ns_max` that no family explains is kept: its places are unknown. Without families
/// all of `ns_max` is kept.
pub fn longest_without(
    ns_max: &[u64],
    families: &[FamilyTimes],
    absent: &[PlaceFamily],
) -> Vec<u64> {
    let longest = |at: usize, absent: &[PlaceFamily]| {
        let kept = families.iter().filter(|it| !absent.contains(&it.places));
        kept.filter_map(|it| it.ns_max.get(at).copied()).max()
    };
    let entry = |(at, &ns): (usize, &u64)| match (longest(at, &[]), longest(at, absent)) {
        (Some(all), Some(rest)) if all >= ns => rest,
        _ => ns,
    };
    ns_max.iter().enumerate().map(entry).collect()
}

/// Returns the first fault of the families of a table with these maxima, as a sentence; raises the
/// maxima to those of the families.
pub(super) fn join(section: &str, ns_max: &mut [u64], families: &[FamilyTimes]) -> Option<String> {
    for (index, family) in families.iter().enumerate() {
        let name = family.places.name();
        let what = format!("the `{name}` places of [[{section}]]");
        let lists = [&family.ns_p99, &family.ns_p50];
        match () {
            () if families[..index].iter().any(|it| it.places == family.places) => {
                return Some(format!("{what} are there twice"));
            }
            () if family.ns_max.is_empty() || family.ns_max.len() > ns_max.len() => {
                return Some(format!(
                    "{what} have {} entries, but the table has {}",
                    family.ns_max.len(),
                    ns_max.len()
                ));
            }
            () if family.ns_max.iter().any(|&ns| ns == 0 || ns > TIME_NS_MAX) => {
                return Some(format!("{what} have a time of 0 or of more than a day"));
            }
            () if lists.iter().any(|it| !it.is_empty() && it.len() != family.ns_max.len()) => {
                return Some(format!("{what}: its lists differ in length"));
            }
            () => (),
        }
        for (known, &ns) in ns_max.iter_mut().zip(&family.ns_max) {
            *known = ns.max(*known);
        }
    }
    None
}

impl MeasuredTable {
    /// Returns the longest times at random places; of a table without families, all its maxima,
    /// which were measured there.
    pub fn random_ns_max(&self) -> &[u64] {
        let random = self.families.iter().find(|it| it.places == PlaceFamily::Random);
        let whole = random.filter(|it| it.ns_max.len() == self.ns_max.len());
        whole.map_or(&self.ns_max, |it| &it.ns_max)
    }

    /// Returns whether it was measured at random places, as every table without families was.
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

    /// Returns the table for requests whose places are never of the `absent` families.
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

/// Returns the families that are not absent; all of them if none is left, because their times are
/// then kept too, and a table without families would count as one of random places.
fn kept(families: &[FamilyTimes], absent: &[PlaceFamily]) -> Vec<FamilyTimes> {
    let kept = families.iter().filter(|it| !absent.contains(&it.places));
    let kept: Vec<FamilyTimes> = kept.cloned().collect();
    if kept.is_empty() { families.to_vec() } else { kept }
}

impl DriveFile {
    /// Returns the file for requests whose places are never of the `absent` families: every table
    /// is the longest of the other families. `[cost]` stays, which covers them all.
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
