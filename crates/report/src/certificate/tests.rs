// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate verify` accepts every certificate of a proven verdict, and refuses those with a
//! flaw. Method: random workloads, whose certificates pass as JSON from the analysis to the checker,
//! as they are and with one number changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use tidegate_analysis::assess;
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{PolicyName, Workload};
use tidegate_verify::{Accepted, Refusal};

use super::*;
use crate::origin::FileOrigin;

const SEED: u64 = 20_261_125;

/// Returns a random workload: a few tasks whose deadlines a drive keeps more often than not.
fn workload(random: &mut Pcg64) -> Workload {
    let mut at = random.random_range(1..4_000_u64);
    let batch_max = random.random_range(1..=12_u64);
    let times: Vec<String> = (0..batch_max)
        .map(|_| {
            at += random.random_range(0..1_500_u64);
            at.to_string()
        })
        .collect();
    let batch = match random.random_range(0..3_u32) {
        0 => "\"auto\"".to_owned(),
        _ => random.random_range(1..=batch_max).to_string(),
    };
    let mut text = format!(
        "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [{}]\n[policy]\nname = \"dqf\"\nbatch = {batch}\n",
        times.join(", ")
    );
    for task in 0..random.random_range(1..=4_u32) {
        let period = random.random_range(at..at * 16);
        let deadline = random.random_range(period / 2 + 1..=period * 2);
        let (requests, count) = (random.random_range(1..=5_u32), random.random_range(1..=3_u32));
        let _ = write!(
            text,
            "[[task]]\nname = \"t{task}\"\nperiod = \"{period}ns\"\ndeadline = \"{deadline}ns\"\n\
             requests = {requests}\ncount = {count}\nsize = \"4KiB\"\n"
        );
    }
    if random.random_bool(0.3) {
        text += "[[best_effort]]\nname = \"b\"\noutstanding = 9\nsize = \"4KiB\"\n";
    }
    if random.random_bool(0.3) {
        let mut time = || random.random_range(0..400_u64);
        let (release, submit, complete, reply) = (time(), time(), time(), time());
        let _ = write!(
            text,
            "[host]\nrelease = \"{release}ns\"\nsubmit = \"{submit}ns\"\n\
             complete = \"{complete}ns\"\nreply = \"{reply}ns\"\n"
        );
    }
    let file = WorkloadFile::parse(&text).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { unreachable!("an inline drive") };
    file.bind(drive).unwrap()
}

fn origin() -> Origin {
    let workload = FileOrigin { name: "w.toml".to_owned(), sha256: "0".repeat(64), modified: None };
    Origin { version: "test", commit: "unknown", workload, drive: None }
}

fn verified(certificate: &Value) -> Result<Accepted, Refusal> {
    tidegate_verify::verify(&serde_json::from_value(certificate.clone()).expect("a certificate"))
}

/// A flaw, as a change of one number.
type Flaw = (&'static str, fn(&mut Value) -> Option<()>);

/// Changes a number, unless there is none or it would be negative.
fn add(number: &mut Value, added: i64) -> Option<()> {
    *number = json!(number.as_u64()?.checked_add_signed(added)?);
    Some(())
}

const FLAWS: [Flaw; 14] = [
    ("a bound 1 ns lower", |it| add(&mut it["tasks"][0]["response_ns_max"], -1)),
    ("a deadline below the bound", |it| {
        let bound = it["tasks"][0]["response_ns_max"].as_u64()?;
        it["tasks"][0]["deadline_ns"] = json!(bound - 1);
        Some(())
    }),
    ("a size of the batch in flight left out", |it| {
        let sizes = it["backlog"].as_array_mut()?.first_mut()?["carry_ins"].as_array_mut()?;
        sizes.pop().map(|_| ())
    }),
    ("a step's sum 1 ns lower", |it| {
        add(&mut it["backlog"].as_array_mut()?.first_mut()?["response_ns"], -1)
    }),
    ("a window one batch shorter", |it| add(it["busy_interval"].get_mut("batches")?, -1)),
    ("a batch time that takes longer", |it| {
        let times = it["batch_ns_max"].as_array_mut()?;
        times.iter_mut().try_for_each(|time| add(time, 1))
    }),
    ("one more request in a job", |it| add(&mut it["tasks"][0]["requests"], 1)),
    ("a table of another length", |it| it["batch_ns_max"].as_array_mut()?.pop().map(|_| ())),
    ("a longer way to the policy", |it| add(it["host"].get_mut("release_ns")?, 1)),
    ("a longer way to the client", |it| add(it["host"].get_mut("reply_ns")?, 1)),
    ("a client's deadline below the bound", |it| {
        let client = it["tasks"][0]["client"].as_object_mut()?;
        client["deadline_ns"] = json!(client["response_ns_max"].as_u64()? - 1);
        Some(())
    }),
    ("a host without its clients", |it| {
        it["host"].as_object()?;
        it["tasks"][0]["client"] = Value::Null;
        Some(())
    }),
    ("another format", |it| add(&mut it["format"], 1)),
    ("the order of deadlines", |it| {
        let tasks = it["tasks"].as_array()?;
        let sum: u64 = tasks.iter().filter_map(|task| task["requests"].as_u64()).sum();
        (sum > it["batch"].as_u64()?).then(|| it["policy"] = json!("dq-edf"))
    }),
];

#[test]
fn certificates_are_accepted_and_flaws_are_refused() {
    let (mut accepted, mut by_window, mut by_deadline, mut behind_host) = (0, 0, 0, 0);
    let mut refused: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let policies = [PolicyName::Dqf, PolicyName::DqEdf];
    for (number, policy) in (0..1_500).flat_map(|number| policies.map(|policy| (number, policy))) {
        let workload = workload(&mut Pcg64::seed_from_u64(SEED + number));
        let assessment = assess(&workload, policy);
        let certificate = match Certificate::of(&workload, &assessment, origin()) {
            Ok(certificate) => serde_json::to_value(&certificate).unwrap(),
            Err(NoCertificate::Order) => continue,
            Err(reason) => {
                assert_ne!(assessment.answer, Answer::Proven, "seed {SEED} + {number}: {reason}");
                continue;
            }
        };
        let context = || format!("seed {SEED} + {number}: {certificate:#}");
        let found = verified(&certificate).unwrap_or_else(|why| panic!("{why}\n{}", context()));
        accepted += 1;
        by_window += u32::from(found.by_window > 0);
        behind_host += u32::from(!certificate["host"].is_null());
        by_deadline += u32::from(certificate["policy"] == "dq-edf");
        for (name, flaw) in FLAWS {
            let mut flawed = certificate.clone();
            if flaw(&mut flawed).is_none() {
                continue;
            }
            let entry = refused.entry(name).or_default();
            match verified(&flawed) {
                Err(_) => entry.0 += 1,
                Ok(_) => entry.1 += 1,
            }
        }
    }
    println!(
        "{accepted} certificates accepted, {by_window} by the window, {by_deadline} of `dq-edf`, {behind_host} \
         behind a host; refused, accepted:"
    );
    for (name, (no, yes)) in &refused {
        println!("  {name}: {no}, {yes}");
    }
    assert!(accepted > 400 && by_window > 20 && by_deadline > 100, "too few certificates");
    assert!(behind_host > 100, "too few certificates behind a host");
    // A flaw that contradicts the certificate itself is always refused.
    for name in [
        "a deadline below the bound",
        "a table of another length",
        "another format",
        "the order of deadlines",
        "a longer way to the policy",
        "a longer way to the client",
        "a client's deadline below the bound",
        "a host without its clients",
    ] {
        assert_eq!(refused[name].1, 0, "{name}");
    }
    for (name, (no, _)) in refused {
        assert!(no > 50, "{name}: refused only {no} times");
    }
}
