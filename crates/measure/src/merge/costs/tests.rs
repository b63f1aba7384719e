// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: merged costs are the least that cover all batches, and do not depend on the order of
//! merging. Method: small files with costs computed by hand.

use tidegate_model::Duration;

use tidegate_model::{Bytes, Op};

use super::*;

/// Returns a file with tables of batches and with mixed batches; each has up to three requests.
fn file(of: &[(&str, &str, &str)], mixed: Vec<MixedBatches>) -> DriveFile {
    let table = |(op, size, ns): &(&str, &str, &str)| {
        format!("[[batch]]\nop = \"{op}\"\nsize = \"{size}\"\nns_max = [{ns}]\nsamples = 9\n")
    };
    let tables: String = of.iter().map(table).collect();
    let text = format!("name = \"d\"\nkind = \"recorded\"\ndepth = 3\n{tables}");
    DriveFile { mixed, ..DriveFile::parse(&text).unwrap() }
}

/// Returns mixed batches: one read and one write, two reads and one write, one read and two writes.
fn mixed(kib: u64, ns: [u64; 3]) -> MixedBatches {
    let kind = |op| MixedKind { op, size: Bytes::from_kib(kib) };
    MixedBatches {
        samples: Some(9),
        request: [Op::Read, Op::Write].map(kind).to_vec(),
        counts: vec![vec![1, 1], vec![2, 1], vec![1, 2]],
        ns_max: ns.to_vec(),
        places: Vec::new(),
    }
}

/// Returns the file of a measurement, with costs fitted to its own batches.
fn measured(of: &[(&str, &str, &str)], mixed: Vec<MixedBatches>) -> DriveFile {
    let mut file = file(of, mixed);
    let kinds: Vec<_> = kinds_of_tables(&file.batch);
    let requests = kinds.iter().map(|&Kind { op, size }| RequestCost {
        op,
        size,
        time_max: Duration::from_ns(1),
    });
    let any = CostModel { requests: requests.collect(), ..costs(0, &[]) };
    file.cost = fitted(&any, &file);
    file
}

fn sum(known: &DriveFile, new: &DriveFile) -> DriveFile {
    let sum = crate::merge::with_tables_of(known, new, &[]).0;
    assert_eq!(DriveFile::parse(&sum.to_toml()).unwrap(), sum, "it is read back");
    sum
}

fn figures(file: &DriveFile) -> (u64, Vec<u64>) {
    let costs = file.cost.as_ref().expect("costs");
    let mut each: Vec<_> = costs.requests.iter().collect();
    each.sort_by_key(|it| (it.op == Op::Write, it.size));
    (costs.positioning_max.ns(), each.iter().map(|it| it.time_max.ns()).collect())
}

/// Goal: the costs are the least envelope of all batches, in any order of merging. Method: two
/// files, each expensive where the other is cheap, and a file with the batches of both.
#[test]
fn costs_are_fitted_to_all_batches_in_any_order() {
    let halves = [
        measured(&[("read", "4KiB", "900,910,920")], vec![]),
        measured(&[("read", "4KiB", "10,600,1500")], vec![]),
    ];
    let all = measured(&[("read", "4KiB", "900,910,1500")], vec![]);
    assert_eq!(figures(&sum(&halves[0], &halves[1])), figures(&all));
    assert_eq!(figures(&sum(&halves[1], &halves[0])), figures(&all));
    let of_both = |ns| measured(&[READS, WRITES], vec![mixed(4, ns)]);
    let alone = measured(&[("read", "4KiB", "25,26,27")], vec![]);
    let expected =
        figures(&measured(&[("read", "4KiB", "25,26,30"), WRITES], vec![mixed(4, [50, 60, 70])]));
    let dear = of_both([50, 60, 70]);
    assert_eq!(figures(&sum(&alone, &dear)), expected);
    assert_eq!(figures(&sum(&dear, &alone)), expected);
    assert_eq!(figures(&sum(&sum(&dear, &alone), &of_both([40, 60, 1]))), expected);
}

/// Goal: batches of smaller requests are covered when these are charged as larger ones. Method:
/// mixed batches of 4 KiB that take longer than those of 8 KiB, in both orders of merging.
#[test]
fn batches_that_are_charged_as_larger_ones_are_covered() {
    let large = measured(
        &[("read", "8KiB", "10,20,30"), ("write", "8KiB", "7,14,21")],
        vec![mixed(8, [20, 30, 30])],
    );
    let small = measured(&[READS, WRITES], vec![mixed(4, [500, 600, 700])]);
    for (known, new) in [(&large, &small), (&small, &large)] {
        let (sum, said) = crate::merge::with_tables_of(known, new, &[]);
        assert_eq!(DriveFile::parse(&sum.to_toml()).unwrap(), sum);
        let costs = sum.cost.as_ref().unwrap();
        for (batch, took) in sum.mixed.iter().flat_map(MixedBatches::batches) {
            assert!(costs.batch_of(batch).is_none_or(|covered| covered >= took));
        }
        let is_charged = said.unwrap().contains("of 4KiB are charged as larger ones");
        assert_eq!(is_charged, std::ptr::eq(known, &raw const large));
    }
    let costs = sum(&large, &small).cost.unwrap();
    let each = [(Op::Read, Bytes::from_kib(4), 1), (Op::Write, Bytes::from_kib(4), 2)];
    assert!(costs.batch_of(each).unwrap().ns() >= 700);
}

#[test]
fn batches_of_several_kinds_keep_their_longest_times() {
    let mut known = vec![mixed(4, [5, 9, 1])];
    let mut new = mixed(4, [6, 2, 3]);
    new.counts[2] = vec![3, 3];
    new.samples = Some(2);
    add_mixed(&mut known, &[new, mixed(8, [1, 1, 1])]);
    assert_eq!((known.len(), known[0].samples), (2, Some(2)));
    assert_eq!(known[0].counts[3], [3, 3]);
    assert_eq!(known[0].ns_max, [6, 9, 1, 3]);
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

/// Goal: the combined model covers every batch that either model covers. Method: every batch of up
/// to three requests of two kinds.
#[test]
fn the_greater_of_two_covers_what_each_covers() {
    let both = costs(5, &[(Op::Read, 4, 10), (Op::Write, 4, 3)]);
    let reads = costs(2, &[(Op::Read, 4, 12)]);
    let (sum, said) = joined(Some(&both), Some(&reads), &file(&[READS, WRITES], vec![]));
    let sum = sum.expect("reads are within reads and writes");
    assert_eq!(said, None);
    let time = |it: &CostModel, reads: u64, writes: u64| {
        let of = |op| it.cost(op, Bytes::from_kib(4)).map_or(0, Duration::ns);
        it.positioning_max.ns() + reads * of(Op::Read) + writes * of(Op::Write)
    };
    for (reads_count, writes_count) in [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (3, 0), (0, 3)] {
        let sum = time(&sum, reads_count, writes_count);
        assert!(sum >= time(&both, reads_count, writes_count));
        assert!(writes_count > 0 || sum >= time(&reads, reads_count, 0));
    }
    assert_eq!(sum.first_uncovered(&file(&[READS, WRITES], vec![]).batch), None);
}

#[test]
fn costs_of_kinds_that_were_never_mixed_are_not_made_up() {
    let (reads, writes) = (costs(1, &[(Op::Read, 4, 10)]), costs(1, &[(Op::Write, 4, 7)]));
    let (sum, said) = joined(Some(&reads), Some(&writes), &file(&[READS, WRITES], vec![]));
    assert_eq!(sum, None);
    let said = said.expect("it is said");
    for word in [
        "is left out",
        "reads of 4KiB and writes of 4KiB",
        "--only batch,mixed --op read,write --size 4KiB --allow-writes --add",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn costs_of_several_kinds_stay_when_another_is_added() {
    let both = costs(5, &[(Op::Read, 4, 10), (Op::Write, 4, 7)]);
    let all = file(&[READS, WRITES, ("read", "8KiB", "11,22,33")], vec![]);
    let more = costs(0, &[(Op::Read, 8, 11)]);
    let (sum, said) = joined(Some(&both), Some(&more), &all);
    assert_eq!(sum.as_ref(), Some(&both));
    assert!(
        said.unwrap()
            .starts_with("[cost] has figures of reads of 4KiB and writes of 4KiB only: no")
    );
    assert_eq!(joined(Some(&both), None, &all).0, Some(both), "several without mixed");
}

/// Goal: adding a table never makes an invalid file. Method: adds a table with longer times than
/// the earlier costs allow.
#[test]
fn costs_are_raised_to_cover_what_is_added() {
    let reads = costs(0, &[(Op::Read, 8, 10), (Op::Write, 8, 10)]);
    let longer = file(
        &[("read", "4KiB", "15,35,36"), ("write", "8KiB", "1,2,3"), ("read", "8KiB", "1,2,3")],
        vec![],
    );
    assert!(reads.first_uncovered(&longer.batch).is_some(), "a smaller read costs no more");
    let (sum, _) = joined(Some(&reads), None, &longer);
    let sum = sum.expect("of two kinds");
    assert_eq!(sum.positioning_max, Duration::from_ns(15), "35 less 2 x 10");
    assert_eq!(sum.first_uncovered(&longer.batch), None);
    assert!(sum.how.unwrap().contains("raised to cover"));
}

#[test]
fn one_kind_measured_again_keeps_the_greater_costs() {
    let (old, new) = (costs(5, &[(Op::Read, 4, 9)]), costs(3, &[(Op::Read, 4, 11)]));
    let (sum, said) = joined(Some(&old), Some(&new), &file(&[READS], vec![]));
    let sum = sum.expect("one kind in a file of one");
    assert_eq!((sum.positioning_max.ns(), sum.requests[0].time_max.ns()), (5, 11));
    assert_eq!(said, None);
    assert_eq!(joined(None, None, &file(&[READS, WRITES], vec![])), (None, None));
}
