// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The premises about places: whether a drive was measured at all places that a workload may have.

use super::WorkloadFile;
use crate::contracts::{ContractPremise, DriveContract};
use crate::drive_file::{DriveFile, FamilyTimes, MeasuredTable, PlaceFamily, missing};
use crate::measurement::Measurement;
use crate::premise::{Premise, PremiseCode, Premises};
use crate::sampling;
use crate::task::{Op, Place};
use crate::units::Bytes;

/// The places at which one measurement was made.
struct Measured<'a> {
    families: &'a [FamilyTimes],
    missing: Vec<PlaceFamily>,
    /// The measurement that would fill the gaps: of the table's requests, or of all requests if
    /// there is no table.
    requests: Measurement,
}

/// Places at which a measurement took no samples, and places at which it took few.
#[derive(PartialEq, Eq)]
struct Gaps {
    missing: Vec<PlaceFamily>,
    screened: Vec<PlaceFamily>,
}

impl WorkloadFile {
    /// Returns the premises about the places at which the batches of these tables were measured;
    /// every proof has these premises.
    pub(super) fn premises_of_places(
        &self,
        drive: &DriveFile,
        tables: &[&MeasuredTable],
    ) -> Premises {
        let mut premises = Premises::default();
        if !self.absent_places.is_empty() {
            premises.push(self.of_absent());
        }
        let mut measured = tables.to_vec();
        measured.retain(|table| !sampling::is_of_data_sheet(drive, table));
        premises.extend(self.of_tables(drive, "batch times", "places", &measured));
        let mut kinds = self.kinds().map(|(op, size, _)| (op, size));
        let first = kinds.next();
        let is_mixed = kinds.any(|kind| Some(kind) != first);
        if !is_mixed || drive.cost.is_none() {
            return premises;
        }
        let what = "mixed batches";
        for mixed in &drive.mixed {
            let missing = missing(&mixed.places, mixed.ns_max.len());
            let requests = Measurement::of("mixed-places");
            let measured = Measured { families: &mixed.places, missing, requests };
            premises.extend(self.of_measured(drive, what, measured));
        }
        if drive.mixed.is_empty() {
            // Like a table without families, such costs count as measured at random places.
            let kinds = self.kinds().map(|(op, size, _)| (op, size));
            let requests = Measurement::of("mixed").with(kinds);
            let measured = Measured { families: &[], missing: missing(&[], 0), requests };
            premises.extend(self.of_measured(drive, what, measured));
        }
        premises
    }

    /// Returns the premises about the places at which another contract was measured in these
    /// tables, for the proofs that rest on this contract.
    pub(super) fn contract_places(
        &self,
        drive: &DriveFile,
        contract: DriveContract,
        tables: &[&MeasuredTable],
    ) -> Vec<ContractPremise> {
        let premises = match contract {
            DriveContract::Batches => Vec::new(),
            DriveContract::Drain => self.of_tables(drive, "drains", "drain-places", tables),
            DriveContract::Priority => {
                self.of_tables(drive, "times with priority", "priority-places", tables)
            }
            DriveContract::Starvation => {
                let families = &drive.starvation_places;
                let requests = Measurement::of("starvation-places");
                let measured = Measured { families, missing: missing(families, 1), requests };
                self.of_measured(drive, "starvation", measured)
            }
        };
        premises.into_iter().map(|premise| ContractPremise { contract, premise }).collect()
    }

    /// Returns the premises about the places at which tables were measured; tables that lack the
    /// same places share one premise.
    fn of_tables(
        &self,
        drive: &DriveFile,
        what: &str,
        experiment: &str,
        tables: &[&MeasuredTable],
    ) -> Vec<Premise> {
        let mut groups: Vec<(Gaps, Vec<&MeasuredTable>)> = Vec::new();
        for table in tables {
            let gaps = self.gaps(&table.families, table.missing_families());
            match groups.iter_mut().find(|(found, _)| *found == gaps) {
                Some((_, alike)) => alike.push(table),
                None => groups.push((gaps, vec![table])),
            }
        }
        let of_group = |(gaps, alike): (Gaps, Vec<&MeasuredTable>)| {
            let kinds = || alike.iter().map(|table| kind(table));
            let depth = alike.iter().map(|table| table.ns_max.len()).max().unwrap_or_default();
            let requests = Measurement::of(experiment).with(kinds()).at_once(depth);
            let of_kinds = if tables.len() > 1 {
                let names = kinds().map(|(op, size)| format!("{size} {}s", op.name()));
                format!(" of {}", names.collect::<Vec<_>>().join(" and "))
            } else {
                String::new()
            };
            self.of_gaps(drive, (what, &of_kinds), &gaps, &requests)
        };
        groups.into_iter().flat_map(of_group).collect()
    }

    fn of_measured(&self, drive: &DriveFile, what: &str, measured: Measured<'_>) -> Vec<Premise> {
        let Measured { families, missing, requests } = measured;
        self.of_gaps(drive, (what, ""), &self.gaps(families, missing), &requests)
    }

    /// Returns the gaps of a measurement at these places, except the families that the file states
    /// as absent.
    fn gaps(&self, families: &[FamilyTimes], missing: Vec<PlaceFamily>) -> Gaps {
        let is_absent = |family: &PlaceFamily| self.absent_places.contains(family);
        let screened = families.iter().filter(|it| it.screened).map(|it| it.places);
        Gaps {
            missing: missing.into_iter().filter(|family| !is_absent(family)).collect(),
            screened: screened.filter(|family| !is_absent(family)).collect(),
        }
    }

    /// Returns the premises about gaps in the measurement of `what`; `of_kinds` names the tables
    /// that have these gaps.
    fn of_gaps(
        &self,
        drive: &DriveFile,
        (what, of_kinds): (&str, &str),
        Gaps { missing, screened }: &Gaps,
        requests: &Measurement,
    ) -> Vec<Premise> {
        let mut premises = Vec::new();
        if !missing.is_empty() {
            premises.push(self.of_missing(drive, &format!("{what}{of_kinds}"), missing, requests));
        }
        if !screened.is_empty() {
            premises.push(Premise::new(
                PremiseCode::FamiliesScreened,
                format!("few samples of some places of {what}"),
                format!(
                    "{what}{of_kinds} at {} places have the few samples of a pilot, which found them \
                     far below other places",
                    names(screened)
                ),
            ));
        }
        premises
    }

    /// Returns the premise about places that were not measured: a doubt, or a void verdict if the
    /// workload sets its places.
    fn of_missing(
        &self,
        drive: &DriveFile,
        what: &str,
        missing: &[PlaceFamily],
        requests: &Measurement,
    ) -> Premise {
        let (code, subject) = if self.sets_places() {
            (PremiseCode::PlacesSetUnmeasured, "set places that were not measured")
        } else {
            (PremiseCode::PlacesUnmeasured, "places not measured")
        };
        let text = format!(
            "`{}` has no {what} at {} places; measure them, or state them in absent_places if they \
             do not occur",
            drive.name,
            names(missing)
        );
        Premise::new(code, subject, text).with_to_do(requests.to_string())
    }

    fn of_absent(&self) -> Premise {
        let names = names(&self.absent_places);
        Premise::new(
            PremiseCode::PlacesAbsent,
            "places stated absent",
            format!(
                "the file states that no request has {names} places, so the drive's times there do \
                 not count; a request there may take longer than proven"
            ),
        )
    }

    /// Returns whether a source has places other than random ones, or whether several exports share
    /// a drive.
    fn sets_places(&self) -> bool {
        self.export_count > 1 || self.places().any(|place| place != Place::Random)
    }

    /// Returns whether every request is at a random place. Always false for exports, because their
    /// clients choose the places.
    pub(super) fn has_random_places(&self) -> bool {
        self.export_count == 0 && self.places().all(|place| place == Place::Random)
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        let of_tasks = self.tasks.iter().map(|task| task.source.place);
        of_tasks.chain(self.best_effort.iter().map(|load| load.source.place))
    }
}

/// Returns the kind of a table's requests.
fn kind(table: &MeasuredTable) -> (Op, Bytes) {
    (table.op.unwrap_or(Op::Read), table.size.unwrap_or_default())
}

/// Lists families: `both_ends, clusters`.
fn names(families: &[PlaceFamily]) -> String {
    families.iter().map(|family| family.name()).collect::<Vec<_>>().join(", ")
}
