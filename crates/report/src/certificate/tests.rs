// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate verify` accepts every certificate of a proven verdict, and refuses certificates
//! with a flaw. Method: random workloads, whose certificates pass as JSON from the analysis to the
//! checker, unchanged and with one number changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use tidegate_analysis::assess;
use tidegate_model::cost::{CostModel, RequestCost};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{Bytes, Op, PolicyName, Workload};
use tidegate_verify::{Accepted, Refusal};

use super::*;
use crate::origin::FileOrigin;

const SEED: u64 = 20_261_125;

/// Returns a random workload: a few tasks whose deadlines are usually proven.
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
    let drains: Vec<String> = (0..24_u64).map(|more| (at + more * at / 8).to_string()).collect();
    let mut text = format!(
        "[drive]\nkind = \"pseudo\"\ndepth = 24\nbatch_ns_max = [{}]\ndrain_ns_max = [{}]\n\
         [policy]\nname = \"dqf\"\nbatch = {batch}\n",
        times.join(", "),
        drains.join(", ")
    );
    for task in 0..random.random_range(1..=4_u32) {
        let period = random.random_range(at..at * 16);
        let deadline = random.random_range(period / 2 + 1..=period * 2);
        let (requests, count) = (random.random_range(1..=5_u32), random.random_range(1..=3_u32));
        let _ = write!(
            text,
            "[[task]]\nname = \"t{task}\"\nperiod = \"{period}ns\"\ndeadline = \"{deadline}ns\"\n\
             requests = {requests}\ncount = {count}\nsize = \"{}KiB\"\n",
            4 << task
        );
    }
    if random.random_bool(0.3) {
        text += "[[best_effort]]\nname = \"b\"\noutstanding = 9\nsize = \"4KiB\"\n";
    }
    if random.random_bool(0.5) {
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
    let mut workload = file.bind(drive).unwrap();
    if random.random_bool(0.6) {
        let each = at / batch_max;
        let mut of_size = |kib: u64| RequestCost {
            op: Op::Read,
            size: Bytes::new(kib << 10),
            time_max: Duration::from_ns(random.random_range(1..=each + 1)),
        };
        workload.contracts.costs = Some(CostModel {
            positioning_max: Duration::from_ns(at / 8),
            requests: [4, 8, 16, 32].map(&mut of_size).into(),
            switch_max: None,
            fua_max: None,
            batch_max: None,
            how: None,
            samples: None,
        });
    }
    workload
}

fn origin() -> Origin {
    let workload = FileOrigin { name: "w.toml".to_owned(), sha256: "0".repeat(64), modified: None };
    Origin { version: "test", commit: "unknown", workload, drive: None }
}

fn verified(certificate: &Value) -> Result<Accepted, Refusal> {
    tidegate_verify::verify(&serde_json::from_value(certificate.clone()).expect("a certificate"))
}

/// A flaw that changes one number of a certificate.
type Flaw = (&'static str, fn(&mut Value) -> Option<()>);

/// Changes a number, unless there is none or it would be negative.
fn add(number: &mut Value, added: i64) -> Option<()> {
    *number = json!(number.as_u64()?.checked_add_signed(added)?);
    Some(())
}

const FLAWS: [Flaw; 19] = [
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
        let times = it["batch_ns_max"].as_array_mut().filter(|times| !times.is_empty())?;
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
    ("a more expensive request", |it| {
        it["costs"].as_object()?;
        let tasks = it["tasks"].as_array_mut()?;
        tasks.iter_mut().try_for_each(|task| add(&mut task["cost_ns"], 1))
    }),
    ("a longer positioning", |it| add(it["costs"].get_mut("positioning_ns")?, 1)),
    ("a task without its cost", |it| {
        it["costs"].as_object()?;
        it["tasks"][0]["cost_ns"] = Value::Null;
        Some(())
    }),
    ("drain times that are too few", |it| {
        let tasks = it["tasks"].as_array()?;
        let sum: u64 = tasks.iter().filter_map(|task| task["requests"].as_u64()).sum();
        let times = it["drain"].get_mut("ns_max")?.as_array_mut()?;
        times.truncate(usize::try_from(sum).ok()? - 1);
        Some(())
    }),
    ("drain times beyond the deadline", |it| {
        let deadline = it["tasks"][0]["deadline_ns"].as_i64()?;
        let times = it["drain"].get_mut("ns_max")?.as_array_mut()?;
        times.iter_mut().try_for_each(|time| add(time, deadline))
    }),
    ("the order of deadlines", |it| {
        let tasks = it["tasks"].as_array()?;
        let sum: u64 = tasks.iter().filter_map(|task| task["requests"].as_u64()).sum();
        let is_cut = sum > it["batch"].as_u64()? && it["policy"] == "dqf";
        is_cut.then(|| it["policy"] = json!("dq-edf"))
    }),
];

#[test]
fn certificates_are_accepted_and_flaws_are_refused() {
    let (mut accepted, mut by_window, mut behind_host) = (0, 0, 0);
    let (mut by_deadline, mut by_costs, mut by_drain) = (0, [0, 0], [0, 0]);
    let mut refused: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let policies = [PolicyName::Dqf, PolicyName::DqEdf, PolicyName::GatedDrain];
    for (number, policy) in (0..1_500).flat_map(|number| policies.map(|policy| (number, policy))) {
        let workload = workload(&mut Pcg64::seed_from_u64(SEED + number));
        let assessment = assess(&workload, policy);
        let certificate = match Certificate::of(&workload, &assessment, origin()) {
            Ok(certificate) => serde_json::to_value(&certificate).unwrap(),
            Err(NoCertificate::Order | NoCertificate::Costs) => continue,
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
        let is_behind = usize::from(!certificate["host"].is_null());
        by_costs[is_behind] += u32::from(!certificate["costs"].is_null());
        by_drain[is_behind] += u32::from(!certificate["drain"].is_null());
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
        "{accepted} certificates accepted, {behind_host} behind a host; {by_window} by the window, {by_deadline} of \
         `dq-edf`; without and behind a host, {by_costs:?} by costs, {by_drain:?} of `gated-drain`; refused, accepted:"
    );
    for (name, (no, yes)) in &refused {
        println!("  {name}: {no}, {yes}");
    }
    assert!(accepted > 400 && by_window > 20 && by_deadline > 100, "too few certificates");
    assert!(behind_host > 100, "too few certificates behind a host");
    for found in by_costs.into_iter().chain(by_drain) {
        assert!(
            found > 20,
            "too few certificates: {by_costs:?} by costs, {by_drain:?} of the drain"
        );
    }
    // A flaw that makes the certificate contradict itself is always refused.
    for name in [
        "a deadline below the bound",
        "a table of another length",
        "another format",
        "the order of deadlines",
        "a longer way to the policy",
        "a longer way to the client",
        "a client's deadline below the bound",
        "a host without its clients",
        "a task without its cost",
        "drain times that are too few",
        "drain times beyond the deadline",
    ] {
        assert_eq!(refused[name].1, 0, "{name}");
    }
    for (name, (no, _)) in refused {
        assert!(no > 50, "{name}: refused only {no} times");
    }
}

/// Goal: the step from a jittered job's release to its arrival is checked. Method: the same
/// workloads with jitter in every second task, and certificates that state 1 ns more jitter.
#[test]
fn certificates_with_jitter_are_accepted_and_more_jitter_is_refused() {
    let mut accepted = [0, 0];
    for (number, policy) in
        (0..600).flat_map(|number| [PolicyName::Dqf, PolicyName::GatedDrain].map(|it| (number, it)))
    {
        let random = &mut Pcg64::seed_from_u64(SEED + number);
        let mut workload = workload(random);
        for task in workload.tasks.iter_mut().step_by(2) {
            let most = task.period.min(task.deadline).ns() / 4;
            task.jitter = Duration::from_ns(random.random_range(1..=most));
        }
        let assessment = assess(&workload, policy);
        let Ok(certificate) = Certificate::of(&workload, &assessment, origin()) else { continue };
        let certificate = serde_json::to_value(&certificate).unwrap();
        let context = || format!("seed {SEED} + {number}: {certificate:#}");
        verified(&certificate).unwrap_or_else(|why| panic!("{why}\n{}", context()));
        accepted[usize::from(!certificate["host"].is_null())] += 1;
        let client = &certificate["tasks"][0]["client"];
        assert_eq!(client["jitter_ns"], workload.tasks[0].jitter.ns(), "{}", context());
        let mut flawed = certificate.clone();
        add(&mut flawed["tasks"][0]["client"]["jitter_ns"], 1).expect("the first task has jitter");
        assert!(matches!(verified(&flawed), Err(Refusal::Client { .. })), "{}", context());
    }
    println!("without and behind a host: {accepted:?} accepted");
    assert!(accepted.iter().all(|&count| count > 50), "{accepted:?}");
}
