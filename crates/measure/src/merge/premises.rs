// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Merges the premises of a drive file with those of an added measurement.
//!
//! If every table was measured again, each merged table is at least as long as the new one, so the
//! premises of the new measurement alone are enough:
//!
//! ```text
//!   every table measured again ....... the new premises
//!   some table not measured again .... both: an earlier premise may be about that table
//!   simulated, chosen ................ stay: they are about the drive
//!   few_samples ...................... stated by the table with the fewest samples
//! ```

use tidegate_model::drive_file::{MeasuredTable, MixedBatches};
use tidegate_model::{DriveFile, Premise, PremiseCode, Premises};

use super::tables::is_same_kind;
use crate::outcome::few_samples;

/// Returns the premises of `sum`, the drive file after the tables of `measured` were added. `known`
/// holds its premises before that.
pub(super) fn joined(known: &Premises, measured: &DriveFile, sum: &DriveFile) -> Premises {
    let is_new = is_measured_again(measured, sum);
    let kept = known.iter().filter(|it| !is_new || it.code.is_about_drive());
    let all: Premises = kept.chain(&measured.premises).cloned().collect();
    let has_few = all.of_code(PremiseCode::FewSamples).next().is_some();
    let Some(few) = fewest(sum).filter(|_| has_few) else { return all };
    let code = few.code;
    let others = all.into_iter().filter(|it| it.code != code);
    [few].into_iter().chain(others).collect()
}

/// Returns the premise about the table with the fewest samples, if these are too few.
fn fewest(file: &DriveFile) -> Option<Premise> {
    let tables = [&file.batch, &file.drain, &file.priority].into_iter().flatten();
    let of_tables = tables.filter_map(|table| table.samples);
    let fewest = of_tables.chain(file.mixed.iter().filter_map(|it| it.samples)).min()?;
    few_samples(u32::try_from(fewest).unwrap_or(u32::MAX))?.premise()
}

/// Returns whether `measured` has every figure of `sum` that a bound can use.
fn is_measured_again(measured: &DriveFile, sum: &DriveFile) -> bool {
    let covers = |new: &[MeasuredTable], all: &[MeasuredTable]| {
        let is_new = |table: &MeasuredTable| {
            let mut same = new.iter().filter(|new| is_same_kind(new, table));
            same.any(|new| new.ns_max.len() >= table.ns_max.len())
        };
        all.iter().all(is_new)
    };
    covers(&measured.batch, &sum.batch)
        && covers(&measured.drain, &sum.drain)
        && covers(&measured.priority, &sum.priority)
        && sum.mixed.iter().all(|all| {
            let is_it = |new: &&MixedBatches| new.request == all.request;
            let new = measured.mixed.iter().find(is_it);
            new.is_some_and(|new| all.counts.iter().all(|counts| new.counts.contains(counts)))
        })
        && (sum.starvation_max.is_none() || measured.starvation_max.is_some())
        && (sum.flush_max.is_none() || measured.flush_max.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::with_tables_of;

    /// Returns a drive file with a batch table of `op` and these premises.
    fn drive(op: &str, samples: u64, codes: &[PremiseCode]) -> DriveFile {
        let text = format!(
            "name = \"d\"\nkind = \"recorded\"\ndepth = 2\n[[batch]]\nop = \"{op}\"\n\
             size = \"4KiB\"\nns_max = [1, 2]\nsamples = {samples}\n"
        );
        let premises = codes.iter().map(|&code| Premise::new(code, format!("{samples}"), "text"));
        DriveFile { premises: premises.collect(), ..DriveFile::parse(&text).unwrap() }
    }

    fn codes(known: &DriveFile, new: &DriveFile) -> Vec<PremiseCode> {
        let (sum, _) = with_tables_of(known, new, &[]);
        assert_eq!(DriveFile::parse(&sum.to_toml()).unwrap(), sum, "it is read back");
        sum.premises.iter().map(|premise| premise.code).collect()
    }

    #[test]
    fn doubts_about_a_table_that_was_measured_again_go() {
        use PremiseCode::{Chosen, Drift, FewSamples, OtherLoad};
        let known = drive("read", 100, &[FewSamples, Drift, Chosen]);
        assert_eq!(codes(&known, &drive("read", 100_000, &[OtherLoad])), [Chosen, OtherLoad]);
        let both = codes(&known, &drive("write", 100_000, &[OtherLoad]));
        assert_eq!(both, [FewSamples, Drift, Chosen, OtherLoad], "the reads are still those");
        let mut shorter = drive("read", 100_000, &[OtherLoad]);
        shorter.batch[0].ns_max.truncate(1);
        assert!(codes(&known, &shorter).contains(&Drift), "b(2) is the earlier one");
    }

    #[test]
    fn few_samples_are_those_of_the_table_with_the_fewest() {
        use PremiseCode::FewSamples;
        let known = drive("read", 1_000, &[FewSamples]);
        let (sum, _) = with_tables_of(&known, &drive("write", 100, &[FewSamples]), &[]);
        assert_eq!(sum.premises.doubts(), "100 samples");
        let (sum, _) = with_tables_of(&known, &drive("read", 100, &[FewSamples]), &[]);
        assert_eq!(sum.premises.doubts(), "1000 samples", "the longer table stays");
    }
}
