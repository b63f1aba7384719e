// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Certificates of random workloads.

use std::fmt::Write as _;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use serde_json::Value;
use tidegate_analysis::{BoundName, assess};
use tidegate_model::cost::{CostModel, RequestCost};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{Bytes, Duration, Op, PolicyName, Workload};
use tidegate_report::{Certificate, FileOrigin, Origin};

use crate::generator;

/// One policy for each theorem that the checkers know, and whether the policy's requests have
/// costs.
const KINDS: [(PolicyName, bool); 4] = [
    (PolicyName::Dqf, false),
    (PolicyName::Dqf, true),
    (PolicyName::DqEdf, false),
    (PolicyName::GatedDrain, false),
];

/// Prints certificates of every kind whose bounds follow from the theorem of that kind.
pub(crate) fn certificates(count: u64, flaw: &str) {
    for (kind, printed) in KINDS.into_iter().zip(shares(count)) {
        let found = (0..).filter_map(|number| certificate(number, kind));
        for (mut certificate, number) in found.zip(0_usize..).take(printed) {
            if flaw == "lower-bound" {
                let tasks = certificate["tasks"].as_array_mut().expect("tasks");
                let index = number % tasks.len();
                let response = &mut tasks[index]["response_ns_max"];
                *response = (response.as_u64().expect("a number") - 1).into();
            }
            println!("{certificate}");
        }
    }
}

/// Returns the number of certificates of each kind in a total of `count`.
fn shares(count: u64) -> [usize; KINDS.len()] {
    let count = usize::try_from(count).expect("a small count");
    std::array::from_fn(|kind| (count + kind) / KINDS.len())
}

/// Returns the certificate of a random workload, unless another theorem gives a lower bound.
fn certificate(number: u64, (policy, has_costs): (PolicyName, bool)) -> Option<Value> {
    let workload = workload(&mut generator(number), has_costs);
    let assessment = assess(&workload, policy);
    let file = FileOrigin { name: "w".to_owned(), sha256: String::new(), modified: None };
    let origin = Origin { version: "", commit: "", workload: file, drive: None };
    let certificate = Certificate::of(&workload, &assessment, origin).ok()?;
    let json = serde_json::to_value(&certificate).expect("string keys");
    let is_of_kind = json["costs"].is_object() == has_costs;
    let is_least = json["tasks"].as_array().expect("tasks").iter().all(|task| {
        let is_by_backlog = |step: &Value| {
            step["requests"] == task["requests"] && step["response_ns"] == task["response_ns_max"]
        };
        let mut steps = json["backlog"].as_array().into_iter().flatten();
        match (&json["costs"], &json["drain"]) {
            (Value::Object(_), _) => task["bound_used"] == BoundName::Mixed.name(),
            (_, Value::Object(_)) => true,
            _ => steps.any(is_by_backlog),
        }
    });
    (is_of_kind && is_least).then_some(json)
}

/// Returns a random workload with times between nanoseconds and years.
fn workload(random: &mut Pcg64, has_costs: bool) -> Workload {
    let unit = 10_u64.pow(random.random_range(0..12));
    let mut at = random.random_range(1..9) * unit;
    let batch_max = random.random_range(1..=12_u64);
    let mut times = Vec::new();
    for _ in 0..batch_max {
        times.push(at.to_string());
        at += random.random_range(0..4) * unit;
    }
    let drains: Vec<String> = (0..24).map(|more| (at + more * unit).to_string()).collect();
    let mut text = format!(
        "[drive]\nkind = \"pseudo\"\ndepth = 24\nbatch_ns_max = [{}]\ndrain_ns_max = [{}]\n\
         [policy]\nname = \"dqf\"\nbatch = {}\n",
        times.join(", "),
        drains.join(", "),
        random.random_range(1..=batch_max)
    );
    for task in 0..random.random_range(1..=4_u32) {
        let period = random.random_range(at..at * 24);
        let (requests, count) = (random.random_range(1..=5_u32), random.random_range(1..=3_u32));
        let _ = write!(
            text,
            "[[task]]\nname = \"t{task}\"\nperiod = \"{period}ns\"\nrequests = {requests}\n\
             count = {count}\nsize = \"{}KiB\"\n",
            4 << task
        );
    }
    if random.random_bool(0.3) {
        text.push_str("[[best_effort]]\nname = \"b\"\noutstanding = 9\nsize = \"4KiB\"\n");
    }
    if random.random_bool(0.5) {
        let mut time = || random.random_range(0..unit);
        let (release, submit, complete, reply) = (time(), time(), time(), time());
        let _ = write!(
            text,
            "[host]\nrelease = \"{release}ns\"\nsubmit = \"{submit}ns\"\n\
             complete = \"{complete}ns\"\nreply = \"{reply}ns\"\n"
        );
    }
    let file = WorkloadFile::parse(&text).expect("a valid file");
    let DriveReference::Inline(drive) = &file.drive else { unreachable!("an inline drive") };
    let mut workload = file.bind(drive).expect("an inline table covers everything");
    if has_costs {
        workload.contracts.costs = Some(costs(random, at / batch_max));
    }
    workload
}

/// Returns random costs of requests: `each` nanoseconds for positioning, and at most `each` + 1 for
/// a request.
fn costs(random: &mut Pcg64, each: u64) -> CostModel {
    let mut of_size = |kib: u64| RequestCost {
        op: Op::Read,
        size: Bytes::new(kib << 10),
        time_max: Duration::from_ns(random.random_range(1..=each + 1)),
    };
    CostModel {
        positioning_max: Duration::from_ns(each),
        requests: [4, 8, 16, 32].map(&mut of_size).into(),
        switch_max: None,
        fua_max: None,
        batch_max: None,
        how: None,
        samples: None,
    }
}
