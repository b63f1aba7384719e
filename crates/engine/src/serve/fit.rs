// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds changes with which an unproved set of contracts would be proved. Every change is proved
//! before it is suggested.

use std::time::{Duration as Wall, Instant};

use tidegate_analysis::Answer;
use tidegate_analysis::fit::{Change, Proof, Terms, changes};
use tidegate_model::{Duration, ExportContract, ExportSpec};

/// The largest number of contracts with which the search tries to leave out each of them.
const CONTRACTS_TRIED_MAX: usize = 64;

/// The time limit of the search, because a user waits for the result.
const TRIED_FOR: Wall = Wall::from_secs(2);

/// The result of proving a set of exports.
pub(super) struct Proved {
    pub(super) answer: Answer,
    /// The bound of each export; `None` if it has no contract, or no bound is known.
    pub(super) bounds: Vec<Option<Duration>>,
    /// The indices of the exports whose contracts would not be kept.
    pub(super) late: Vec<usize>,
}

/// A search for sets of exports that are proved.
pub(super) struct Search<P> {
    prove: P,
    until: Instant,
}

impl<P: Fn(&[ExportSpec]) -> Option<Proved>> Search<P> {
    /// Begins a search. `prove` proves other sets; it returns `None` for exports that form no valid
    /// set.
    ///
    /// # Complexity
    /// No method begins a proof later than two seconds after this call.
    pub(super) fn new(prove: P) -> Self {
        Self { prove, until: Instant::now() + TRIED_FOR }
    }

    /// Returns changes that would make the set provable: [`changes`] to the contracts that are not
    /// kept, or leaving out one contract. Each change is one entry; empty if the policy has no
    /// bound at all.
    pub(super) fn of_set(&self, exports: &[ExportSpec]) -> Vec<String> {
        let Some(proved) = self.prove(exports) else { return Vec::new() };
        let changes = self.changes(exports, &proved.late).into_iter();
        let changes = changes.chain(self.without_one(exports));
        let mut found: Vec<String> = changes.map(|change| change.to_string()).collect();
        if found.is_empty() && !matches!(proved.answer, Answer::NotApplicable { .. }) {
            found.push(
                "none of the changes that were tried: longer deadlines or periods, fewer requests \
                 of an export, or one export less"
                    .to_owned(),
            );
        }
        found
    }

    /// Returns changes to the export at index `newcomer` with which the whole set would be proved.
    pub(super) fn of_newcomer(&self, exports: &[ExportSpec], newcomer: usize) -> Vec<String> {
        let export = &exports[newcomer];
        if export.contract.is_none() {
            return Vec::new();
        }
        let mut found = self.changes(exports, &[newcomer]);
        found.push(Change::AsBestEffort { name: export.name.clone() });
        found.iter().map(Change::to_string).collect()
    }

    fn prove(&self, exports: &[ExportSpec]) -> Option<Proved> {
        (Instant::now() < self.until).then(|| (self.prove)(exports)).flatten()
    }

    fn is_proven(&self, exports: &[ExportSpec]) -> bool {
        self.prove(exports).is_some_and(|proved| proved.answer == Answer::Proven)
    }

    /// Tries the set without one contract, for each contract in turn.
    fn without_one(&self, exports: &[ExportSpec]) -> Vec<Change> {
        let contracts: Vec<usize> =
            (0..exports.len()).filter(|&index| exports[index].contract.is_some()).collect();
        if !(2..=CONTRACTS_TRIED_MAX).contains(&contracts.len()) {
            return Vec::new();
        }
        let can_go = |&&index: &&usize| {
            let mut fewer = exports.to_vec();
            fewer.remove(index);
            self.is_proven(&fewer)
        };
        let names = contracts.iter().filter(can_go).map(|&index| exports[index].name.clone());
        names.map(|name| Change::Without { name }).collect()
    }

    /// Returns changes to the contracts of the exports at these indices.
    fn changes(&self, exports: &[ExportSpec], late: &[usize]) -> Vec<Change> {
        let terms = late.iter().filter_map(|&index| {
            let ExportSpec { name, contract, .. } = &exports[index];
            Some((&**name, terms_of(contract.as_ref()?)))
        });
        changes(&terms.collect::<Vec<_>>(), |terms| {
            let Proved { answer, bounds, .. } = self.prove(&with_terms(exports, late, terms))?;
            let bounds = late.iter().map(|&index| bounds[index]).collect();
            Some(Proof { bounds, is_proven: answer == Answer::Proven })
        })
    }
}

fn terms_of(contract: &ExportContract) -> Terms {
    let ExportContract { requests, period, deadline, .. } = *contract;
    Terms { requests, period, deadline }
}

/// Returns the exports, with other terms for the contracts of the exports at these indices.
fn with_terms(exports: &[ExportSpec], indices: &[usize], terms: &[Terms]) -> Vec<ExportSpec> {
    let mut changed = exports.to_vec();
    for (&index, &Terms { requests, period, deadline }) in indices.iter().zip(terms) {
        let contract = changed[index].contract.as_mut().expect("an export with a contract");
        (contract.requests, contract.period, contract.deadline) = (requests, period, deadline);
    }
    changed
}

#[cfg(test)]
mod tests {
    use tidegate_model::{BestEffortShare, Beyond, Bytes};

    use super::*;

    fn export(name: &str, deadline_ms: u64) -> ExportSpec {
        let contract = ExportContract {
            requests: 1,
            period: Duration::from_ms(100),
            deadline: Duration::from_ms(deadline_ms),
            size_max: Bytes::new(4096),
            op: None,
            beyond: Beyond::Wait,
        };
        ExportSpec {
            name: name.to_owned(),
            offset: Bytes::new(0),
            size: Bytes::new(1 << 20),
            contract: Some(contract),
            is_soft: false,
            share: BestEffortShare::default(),
            is_read_only: true,
        }
    }

    /// Proves exports with the bounds that `bound` returns.
    fn prove(exports: &[ExportSpec], bound: impl Fn(&ExportContract) -> Duration) -> Proved {
        let contracts: Vec<&ExportContract> =
            exports.iter().filter_map(|export| export.contract.as_ref()).collect();
        let bounds: Vec<Duration> = contracts.iter().map(|contract| bound(contract)).collect();
        let late: Vec<usize> =
            (0..exports.len()).filter(|&index| bounds[index] > contracts[index].deadline).collect();
        let answer = if late.is_empty() { Answer::Proven } else { Answer::NotProven };
        Proved { answer, bounds: bounds.into_iter().map(Some).collect(), late }
    }

    #[test]
    fn deadlines_are_told_for_all_late_exports_and_as_long_as_the_bounds_they_cause() {
        let exports = ["a", "b", "c"].map(|name| export(name, if name == "c" { 50 } else { 10 }));
        // A longer deadline makes the bound longer, up to 40 ms; no other change helps.
        let bound = |contract: &ExportContract| {
            let ms = if contract.deadline < Duration::from_ms(30) { 30 } else { 40 };
            Duration::from_ms(ms)
        };
        let told = Search::new(|exports: &[ExportSpec]| Some(prove(exports, bound)));
        let expected =
            ["`a` with a deadline of 40ms or more and `b` with a deadline of 40ms or more"];
        assert_eq!(told.of_set(&exports), expected);
    }

    #[test]
    fn an_export_is_left_out_only_if_the_others_are_proved() {
        let exports = ["a", "b", "c"].map(|name| export(name, 10));
        let bound = |others: usize| Duration::from_ms(5 * others as u64);
        let told = |exports: &[ExportSpec]| {
            Search::new(|exports: &[ExportSpec]| Some(prove(exports, |_| bound(exports.len()))))
                .of_set(exports)
        };
        let without = |told: &[String]| told.iter().filter(|it| it.starts_with("all but")).count();
        assert_eq!(without(&told(&exports)), 3);
        let four = ["a", "b", "c", "d"].map(|name| export(name, 10));
        assert_eq!(without(&told(&four)), 0);
    }

    #[test]
    fn nothing_is_told_that_is_not_proved() {
        let exports = ["a", "b"].map(|name| export(name, 10));
        let never = |contract: &ExportContract| contract.deadline + Duration::from_ns(1);
        let told = Search::new(|exports: &[ExportSpec]| Some(prove(exports, never)));
        assert!(told.of_set(&exports)[0].starts_with("none of the changes"));
        assert_eq!(told.of_newcomer(&exports, 0), ["`a` as best effort"]);
    }
}
