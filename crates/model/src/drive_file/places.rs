// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Families of places: the longest time that was measured on a disk holds only for the places that
//! were measured.
//!
//! Each table of a drive file keeps the longest times of each family separately. So a reader sees
//! from which places the times come, and a workload that rules out some places is not charged for
//! them. A table's own `ns_max` is the longest of all families.

use serde::{Deserialize, Serialize};

use super::limits::TIME_NS_MAX;

names! {
    /// A family of places: a way to choose the places of the requests in a trial.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PlaceFamily {
        /// Anywhere on the device, uniformly.
        Random => "random",
        /// The lowest and the highest part of the device alternately.
        BothEnds => "both_ends",
        /// A few narrow parts of the device.
        Clusters => "clusters",
        /// One track and its neighbours.
        Track => "track",
        /// Each place directly after the previous one.
        Sequential => "sequential",
        /// A search for the longest time chose the places, their order and the starting position of
        /// the heads.
        Climbed => "climbed",
    }
}

/// The longest times at the places of one family.
///
/// # Shape
/// The entries of each list belong to the first entries of the table. A list is shorter than the
/// table if the measurement of its family was interrupted. `ns_p50` and `ns_p99` are as long as
/// `ns_max`, or empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyTimes {
    /// The family of places.
    pub places: PlaceFamily,
    /// Number of samples per table entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Whether the family was measured only in a pilot, which found its times far below another
    /// family's.
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

/// Returns the families that were not measured for all `entries` entries. Times without families
/// were measured at random places.
pub fn missing(families: &[FamilyTimes], entries: usize) -> Vec<PlaceFamily> {
    let is_whole = |family: PlaceFamily| match families {
        [] => family == PlaceFamily::Random,
        _ => families.iter().any(|it| it.places == family && it.ns_max.len() >= entries),
    };
    PlaceFamily::ALL.into_iter().filter(|&family| !is_whole(family)).collect()
}

/// Returns the longest time of all families except those in `absent`, entry by entry.
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

/// Checks the families of a table and raises the table's maxima to those of the families. Returns
/// the first fault as a sentence.
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

/// Returns the families that are not absent, or all families if every one is absent:
/// [`longest_without`] then keeps their times too, and a table without families would count as
/// measured at random places.
pub(super) fn kept(families: &[FamilyTimes], absent: &[PlaceFamily]) -> Vec<FamilyTimes> {
    let kept = families.iter().filter(|it| !absent.contains(&it.places));
    let kept: Vec<FamilyTimes> = kept.cloned().collect();
    if kept.is_empty() { families.to_vec() } else { kept }
}
