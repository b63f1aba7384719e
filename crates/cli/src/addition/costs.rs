// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[cost]` of a drive file that is added to: what stays true of it.
//!
//! ```text
//!   kinds of one within those of the other .... the greater, figure by figure: covers all that
//!                                               either was fitted to
//!   otherwise ................................. the one that speaks of more kinds
//!   then ...................................... A is raised until each [[batch]] is covered
//!   of one kind, in a file of several ......... none: it says no more than its table
//! ```
//!
//! Batches that mix the kinds of both were measured by nobody, and do not follow from batches of
//! either: costs of all kinds are never made up. What is not covered is said.

use model::cost::RequestCost;
use model::drive_file::MeasuredTable;
use model::{Bytes, CostModel, Duration, Op};

/// Of what costs are.
type CostKind = (Op, Bytes);

/// The costs of a file with these `tables`, of those it had and those of the tables that are new;
/// and what is to be said of them.
pub(super) fn joined(
    known: Option<&CostModel>,
    new: Option<&CostModel>,
    tables: &[MeasuredTable],
) -> (Option<CostModel>, Option<String>) {
    let all = kinds_of_tables(tables);
    let best = match (known, new) {
        (Some(known), Some(new)) if is_within(new, known) || is_within(known, new) => {
            Some(greater_of(known, new))
        }
        (Some(known), Some(new)) if new.requests.len() > known.requests.len() => Some(new.clone()),
        (known, new) => known.or(new).cloned(),
    };
    let costs = best.filter(|it| it.requests.len() > 1 || all.len() < 2);
    let costs = costs.map(|costs| raised(costs, tables));
    let covers = |&(op, size): &CostKind| {
        costs.as_ref().is_some_and(|costs| kinds(costs).any(|kind| kind == (op, size)))
    };
    let is_asked = known.is_some() || new.is_some();
    let said = (is_asked && !all.iter().all(covers)).then(|| said(costs.as_ref(), &all));
    (costs, said)
}

fn kinds(costs: &CostModel) -> impl Iterator<Item = CostKind> {
    costs.requests.iter().map(|it| (it.op, it.size))
}

fn kinds_of_tables(tables: &[MeasuredTable]) -> Vec<CostKind> {
    tables.iter().filter_map(|table| Some((table.op?, table.size?))).collect()
}

fn is_within(inner: &CostModel, outer: &CostModel) -> bool {
    kinds(inner).all(|kind| kinds(outer).any(|other| other == kind))
}

/// Covers whatever one of both covers, as far as both speak of it.
fn greater_of(a: &CostModel, b: &CostModel) -> CostModel {
    let mut requests = a.requests.clone();
    for cost in &b.requests {
        let is_it = |known: &&mut RequestCost| (known.op, known.size) == (cost.op, cost.size);
        match requests.iter_mut().find(is_it) {
            Some(known) => known.time_max = known.time_max.max(cost.time_max),
            None => requests.push(*cost),
        }
    }
    CostModel {
        positioning_max: a.positioning_max.max(b.positioning_max),
        requests,
        switch_max: a.switch_max.max(b.switch_max),
        fua_max: a.fua_max.max(b.fua_max),
        batch_max: a.batch_max.into_iter().chain(b.batch_max).min(),
        how: Some("the greatest figures of several fits".to_owned()),
        samples: a.samples.into_iter().chain(b.samples).min(),
    }
}

/// With the least A that covers each table that the model speaks of: a file that its own tables
/// refute is none.
fn raised(costs: CostModel, tables: &[MeasuredTable]) -> CostModel {
    let missing = |table: &MeasuredTable| {
        let each = costs.cost(table.op?, table.size?)?;
        let of_batch = |requests: u32| {
            // What c covers alone needs no A.
            let covered = each.ns().saturating_mul(u64::from(requests));
            table.table.time_max(requests).ns().saturating_sub(covered)
        };
        (1..=table.table.batch_max()).map(of_batch).max()
    };
    let needed = tables.iter().filter_map(missing).max().unwrap_or(0);
    if needed <= costs.positioning_max.ns() {
        return costs;
    }
    let how = costs.how.unwrap_or_else(|| "as it stood here".to_owned());
    let how = Some(format!("{how}; positioning raised to cover a table that was added"));
    CostModel { positioning_max: Duration::from_ns(needed), how, ..costs }
}

fn said(costs: Option<&CostModel>, all: &[CostKind]) -> String {
    let what = match costs {
        Some(costs) => format!("[cost] speaks of {} only", list(kinds(costs))),
        None => "[cost] is left out".to_owned(),
    };
    let mut sizes: Vec<Bytes> = all.iter().map(|kind| kind.1).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let sizes: Vec<_> = sizes.iter().map(Bytes::to_string).collect();
    let ops = [Op::Read, Op::Write].into_iter().filter(|op| all.iter().any(|kind| kind.0 == *op));
    let ops: Vec<_> = ops.map(Op::name).collect();
    format!(
        "{what}: no batches that mix {} were measured, and what they take does not follow from \
         batches of one kind; measure all in one go and add that: `--only batch,mixed --op {} \
         --size {} --add`",
        list(all.iter().copied()),
        ops.join(","),
        sizes.join(","),
    )
}

/// `reads of 4KiB and writes of 4KiB`.
fn list(kinds: impl Iterator<Item = CostKind>) -> String {
    let each: Vec<_> = kinds.map(|(op, size)| format!("{}s of {size}", op.name())).collect();
    each.join(" and ")
}

#[cfg(test)]
mod tests {
    use model::DriveFile;

    use super::*;

    /// Tables of batches, each with op, size and times.
    fn tables(of: &[(&str, &str, &str)]) -> Vec<MeasuredTable> {
        let table = |(op, size, ns): &(&str, &str, &str)| {
            format!("[[batch]]\nop = \"{op}\"\nsize = \"{size}\"\nns_max = [{ns}]\n")
        };
        let tables: String = of.iter().map(table).collect();
        let text = format!("name = \"d\"\nkind = \"recorded\"\ndepth = 3\n{tables}");
        DriveFile::parse(&text).unwrap().batch
    }

    fn costs(positioning: u64, requests: &[(Op, u64, u64)]) -> CostModel {
        let request = |&(op, kib, ns): &(Op, u64, u64)| RequestCost {
            op,
            size: Bytes::from_kib(kib),
            time_max: Duration::from_ns(ns),
        };
        CostModel {
            positioning_max: Duration::from_ns(positioning),
            requests: requests.iter().map(request).collect(),
            switch_max: None,
            fua_max: None,
            batch_max: Some(3),
            how: None,
            samples: Some(10),
        }
    }

    const READS: (&str, &str, &str) = ("read", "4KiB", "10,20,30");
    const WRITES: (&str, &str, &str) = ("write", "4KiB", "7,14,21");

    /// Goal: whatever either model covers is covered by both together. Method: every batch of up
    /// to three requests of two kinds.
    #[test]
    fn the_greater_of_two_covers_what_each_covers() {
        let both = costs(5, &[(Op::Read, 4, 10), (Op::Write, 4, 3)]);
        let reads = costs(2, &[(Op::Read, 4, 12)]);
        let (sum, said) = joined(Some(&both), Some(&reads), &tables(&[READS, WRITES]));
        let sum = sum.expect("reads are within reads and writes");
        assert_eq!(said, None);
        let time = |it: &CostModel, reads: u64, writes: u64| {
            let of = |op| it.cost(op, Bytes::from_kib(4)).map_or(0, Duration::ns);
            it.positioning_max.ns() + reads * of(Op::Read) + writes * of(Op::Write)
        };
        for (reads_count, writes_count) in [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (3, 0), (0, 3)]
        {
            let sum = time(&sum, reads_count, writes_count);
            assert!(sum >= time(&both, reads_count, writes_count));
            assert!(writes_count > 0 || sum >= time(&reads, reads_count, 0));
        }
        assert_eq!(sum.first_uncovered(&tables(&[READS, WRITES])), None);
    }

    #[test]
    fn costs_of_kinds_that_were_never_mixed_are_not_made_up() {
        let (reads, writes) = (costs(1, &[(Op::Read, 4, 10)]), costs(1, &[(Op::Write, 4, 7)]));
        let (sum, said) = joined(Some(&reads), Some(&writes), &tables(&[READS, WRITES]));
        assert_eq!(sum, None);
        let said = said.expect("it is said");
        for word in [
            "is left out",
            "reads of 4KiB and writes of 4KiB",
            "--only batch,mixed --op read,write --size 4KiB --add",
        ] {
            assert!(said.contains(word), "{word}: {said}");
        }
    }

    #[test]
    fn costs_of_several_kinds_stay_when_another_is_added() {
        let both = costs(5, &[(Op::Read, 4, 10), (Op::Write, 4, 7)]);
        let all = tables(&[READS, WRITES, ("read", "8KiB", "11,22,33")]);
        let more = costs(0, &[(Op::Read, 8, 11)]);
        let (sum, said) = joined(Some(&both), Some(&more), &all);
        assert_eq!(sum.as_ref(), Some(&both));
        assert!(
            said.unwrap().starts_with("[cost] speaks of reads of 4KiB and writes of 4KiB only")
        );
        assert_eq!(joined(Some(&both), None, &all).0, Some(both), "several without mixed");
    }

    /// Goal: a table that is added never makes a file that cannot be read. Method: it is longer
    /// than the costs that stood there say.
    #[test]
    fn costs_are_raised_to_cover_what_is_added() {
        let reads = costs(0, &[(Op::Read, 8, 10), (Op::Write, 8, 10)]);
        let longer = tables(&[
            ("read", "4KiB", "15,35,36"),
            ("write", "8KiB", "1,2,3"),
            ("read", "8KiB", "1,2,3"),
        ]);
        assert!(reads.first_uncovered(&longer).is_some(), "a smaller read costs no more");
        let (sum, _) = joined(Some(&reads), None, &longer);
        let sum = sum.expect("of two kinds");
        assert_eq!(sum.positioning_max, Duration::from_ns(15), "35 less 2 x 10");
        assert_eq!(sum.first_uncovered(&longer), None);
        assert!(sum.how.unwrap().contains("raised to cover"));
    }

    #[test]
    fn one_kind_measured_again_keeps_the_greater_costs() {
        let (old, new) = (costs(5, &[(Op::Read, 4, 9)]), costs(3, &[(Op::Read, 4, 11)]));
        let (sum, said) = joined(Some(&old), Some(&new), &tables(&[READS]));
        let sum = sum.expect("one kind in a file of one");
        assert_eq!((sum.positioning_max.ns(), sum.requests[0].time_max.ns()), (5, 11));
        assert_eq!(said, None);
        assert_eq!(joined(None, None, &tables(&[READS, WRITES])), (None, None));
    }
}
