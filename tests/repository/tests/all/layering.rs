// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: each crate imports only the crates in its row of the table. Imports point only downwards.
//! `policy` (the decisions) and `analysis` (the proofs) never depend on each other; neither do the
//! processor's servers and its analysis; and `verify` does not depend on `analysis`. So an error
//! goes unnoticed only if it is made twice.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{Dependency, DependencyKind, MetadataCommand};

/// Each crate of the workspace, with the crates that it may import, in its code and in its tests.
/// The shared rows come first, then the disk's crates, the processor's, those that join both, front
/// ends, and tests.
#[rustfmt::skip]
const MAY_IMPORT: &[(&str, &[&str])] = &[
    // crate            may import
    ("model",           &[]),
    ("stats",           &["model"]),
    ("metrics",         &["model", "stats"]),
    ("platform",        &["model"]),
    // The disk's crates.
    ("policy",          &["model"]),
    ("analysis",        &["model"]),
    // `verify` checks the proofs of `analysis`, so it imports nothing.
    ("verify",          &[]),
    ("drive",           &["model"]),
    ("disksim",         &["model", "drive"]),
    ("device",          &["model", "platform"]),
    ("host",            &["model", "stats", "policy"]),
    ("sim",             &["model", "policy", "drive", "host"]),
    ("measure",         &["model", "stats", "platform", "drive", "device"]),
    ("nbd",             &[]),
    ("attach",          &["model", "platform", "drive", "device"]),
    ("tune",            &["model", "platform", "device"]),
    ("mapping",         &["model", "tune"]),
    ("watch",           &["model", "stats", "metrics", "device", "host"]),
    // The processor's crates.
    ("cpu-model",       &["model"]),
    ("cpu-servers",     &["model", "cpu-model"]),
    ("cpu-analysis",    &["model", "cpu-model"]),
    ("cpu-sim",         &["model", "stats", "cpu-model", "cpu-servers"]),
    ("cpu-measure",     &["model", "stats", "platform", "cpu-model", "cpu-analysis"]),
    ("cpu-live",        &["model", "platform", "cpu-model", "cpu-servers"]),
    ("cpu-conformance", &["model", "cpu-model", "cpu-servers", "cpu-sim"]),
    // The crates that join disk and processor: `engine` reads processor profiles, `report` formats
    // the results of both, and `commands` and `studies` run both.
    ("engine",          &["model", "stats", "metrics", "platform", "policy", "analysis", "drive", "device", "host", "nbd",
                          "cpu-model", "cpu-analysis"]),
    ("report",          &["model", "stats", "analysis", "drive", "disksim", "host", "measure", "nbd", "tune", "mapping", "watch",
                          "cpu-model", "cpu-analysis", "cpu-sim", "cpu-measure", "cpu-live", "cpu-conformance"]),
    ("commands",        &["model", "platform", "policy", "analysis", "drive", "disksim", "measure", "host", "sim",
                          "cpu-model", "cpu-analysis", "cpu-sim", "report"]),
    ("studies",         &["model", "stats", "platform", "analysis", "drive", "host", "sim", "measure",
                          "cpu-model", "cpu-analysis", "cpu-sim", "report", "commands"]),
    // The front ends.
    ("capi",            &["engine"]),
    ("python",          &["model", "policy", "drive", "host", "sim", "measure",
                          "cpu-model", "cpu-sim", "report", "commands"]),
    ("cli",             &["model", "stats", "metrics", "platform", "policy", "analysis", "drive", "device", "host", "sim", "measure", "nbd", "engine", "attach", "tune", "mapping", "watch",
                          "cpu-model", "cpu-servers", "cpu-analysis", "cpu-sim", "cpu-measure", "cpu-live", "cpu-conformance", "report",
                          "commands", "studies", "verify"]),
    // Tests of more than one crate.
    ("soundness",       &["model", "policy", "analysis", "verify", "drive", "sim"]),
    ("vm",              &["model", "policy", "analysis", "tune", "mapping"]),
    ("kernel",          &["model", "policy"]),
    ("cpu-soundness",   &["model", "cpu-model", "cpu-analysis", "cpu-sim"]),
    ("repository",      &[]),
];

/// The crates that a crate's tests, examples and benches may import in addition.
const TESTS_MAY_IMPORT: &[(&str, &[&str])] = &[
    ("engine", &["sim"]),
    ("sim", &["stats", "disksim"]),
    ("report", &["policy", "sim", "verify"]),
    ("kernel", &["analysis", "drive", "sim", "mapping"]),
];

/// Pairs of crates that must not depend on each other in any way, including their tests.
const NEVER_MEET: [(&str, &str); 5] = [
    ("verify", "analysis"),
    ("policy", "analysis"),
    ("analysis", "policy"),
    ("cpu-servers", "cpu-analysis"),
    ("cpu-analysis", "cpu-servers"),
];

/// A dependency of one crate of the workspace on another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: String,
    to: String,
    is_for_tests: bool,
}

/// Returns the crates of the workspace and the dependencies between them.
fn workspace() -> (BTreeSet<String>, BTreeSet<Arrow>) {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .expect("cargo describes the workspace");
    let packages: BTreeSet<&str> =
        metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut arrows = BTreeSet::new();
    for package in &metadata.packages {
        let within = |found: &&Dependency| packages.contains(found.name.as_str());
        for dependency in package.dependencies.iter().filter(within) {
            arrows.insert(Arrow {
                from: short_name(&package.name),
                to: short_name(&dependency.name),
                is_for_tests: dependency.kind == DependencyKind::Development,
            });
        }
    }
    (packages.into_iter().map(short_name).collect(), arrows)
}

/// Returns `model` for `tidegate-model`; the package `tidegate` is the command line.
fn short_name(package: &str) -> String {
    match package.strip_prefix("tidegate") {
        Some("") => "cli".to_owned(),
        Some(rest) => rest.trim_start_matches('-').to_owned(),
        None => package.to_owned(),
    }
}

fn allowed(table: &[(&str, &[&str])], arrow: &Arrow) -> bool {
    table.iter().any(|(from, to)| *from == arrow.from && to.contains(&arrow.to.as_str()))
}

/// Returns the faults of the workspace, one sentence each.
fn faults(crates: &BTreeSet<String>, arrows: &BTreeSet<Arrow>) -> Vec<String> {
    let mut faults = Vec::new();
    for name in crates {
        if !MAY_IMPORT.iter().any(|(known, _)| known == name) {
            faults.push(format!("crate `{name}` is not in the table: decide what it may import"));
        }
    }
    for (name, _) in MAY_IMPORT {
        if !crates.contains(*name) {
            faults.push(format!("the table names `{name}`, which is no crate of the workspace"));
        }
    }
    for arrow in arrows {
        let Arrow { from, to, is_for_tests } = arrow;
        let may = allowed(MAY_IMPORT, arrow) || (*is_for_tests && allowed(TESTS_MAY_IMPORT, arrow));
        if !may {
            let whose = if *is_for_tests { "the tests of " } else { "" };
            faults.push(format!("{from} -> {to}: {whose}`{from}` must not import `{to}`"));
        }
    }
    for (from, to) in NEVER_MEET {
        if let Some(way) = way(arrows, from, to) {
            faults.push(format!("{}: `{from}` must never see `{to}`", way.join(" -> ")));
        }
    }
    faults
}

/// Returns a path of dependencies of any kind from one crate to another.
fn way(arrows: &BTreeSet<Arrow>, from: &str, to: &str) -> Option<Vec<String>> {
    let mut came_from: BTreeMap<String, String> = BTreeMap::new();
    let mut open = vec![from.to_owned()];
    while let Some(at) = open.pop() {
        for arrow in arrows.iter().filter(|arrow| arrow.from == at) {
            if arrow.to != from && !came_from.contains_key(&arrow.to) {
                came_from.insert(arrow.to.clone(), at.clone());
                open.push(arrow.to.clone());
            }
        }
    }
    let mut way = vec![to.to_owned()];
    while way[way.len() - 1] != from {
        way.push(came_from.get(&way[way.len() - 1])?.clone());
    }
    way.reverse();
    Some(way)
}

#[test]
fn arrows_point_downwards_only() {
    let (crates, arrows) = workspace();
    let faults = faults(&crates, &arrows);
    assert!(faults.is_empty(), "layering:\n  {}", faults.join("\n  "));
}

/// The table itself allows no cycle: a crate imports only crates that are listed above it.
#[test]
fn the_table_is_in_order() {
    for (index, (name, imports)) in MAY_IMPORT.iter().enumerate() {
        for import in *imports {
            let above = MAY_IMPORT[..index].iter().any(|(known, _)| known == import);
            assert!(above, "{name} -> {import} points upwards");
        }
    }
}

/// Returns a workspace with every crate and every dependency of the table.
fn full_workspace() -> (BTreeSet<String>, BTreeSet<Arrow>) {
    let crates = MAY_IMPORT.iter().map(|(name, _)| (*name).to_owned()).collect();
    let arrows = MAY_IMPORT.iter().flat_map(|(from, imports)| {
        imports.iter().map(|to| arrow(from, to, false)).collect::<Vec<_>>()
    });
    (crates, arrows.collect())
}

fn arrow(from: &str, to: &str, is_for_tests: bool) -> Arrow {
    Arrow { from: from.to_owned(), to: to.to_owned(), is_for_tests }
}

/// Canary: in a workspace with all dependencies that the table allows and one more, the additional
/// one is found and named.
#[test]
fn forbidden_arrows_are_named() {
    let faults_with = |added: Arrow| {
        let (crates, mut arrows) = full_workspace();
        arrows.insert(added);
        faults(&crates, &arrows)
    };
    assert_eq!(
        faults_with(arrow("model", "drive", false)),
        ["model -> drive: `model` must not import `drive`"]
    );
    assert_eq!(
        faults_with(arrow("policy", "sim", true)),
        ["policy -> sim: the tests of `policy` must not import `sim`"]
    );
    assert_eq!(
        faults_with(arrow("analysis", "sim", true)),
        [
            "analysis -> sim: the tests of `analysis` must not import `sim`",
            "analysis -> sim -> policy: `analysis` must never see `policy`",
        ]
    );
}

/// Canary: a crate without a row in the table is found, and so is a row without a crate.
#[test]
fn crates_and_rows_without_each_other_are_named() {
    let (mut crates, arrows) = full_workspace();
    crates.insert("stray".to_owned());
    assert_eq!(
        faults(&crates, &arrows),
        ["crate `stray` is not in the table: decide what it may import"]
    );
    crates.remove("stray");
    crates.remove("device");
    assert_eq!(
        faults(&crates, &arrows),
        ["the table names `device`, which is no crate of the workspace"]
    );
}
