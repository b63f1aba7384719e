// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Certificates of random workloads.

use std::fmt::Write as _;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_analysis::{Answer, assess};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{PolicyName, Workload};
use tidegate_report::{Certificate, FileOrigin, Origin};

use crate::generator;

/// Prints certificates whose bounds all follow from the backlog, which is what the checker checks.
pub(crate) fn certificates(count: u64, flaw: &str) {
    let mut printed = 0;
    for number in 0.. {
        if printed == count {
            return;
        }
        let workload = workload(&mut generator(number));
        let assessment = assess(&workload, PolicyName::Dqf);
        let is_by_backlog = workload.tasks.iter().zip(&assessment.tasks).all(|(task, it)| {
            let tight = it.bounds.tight;
            tight.is_some_and(|tight| tight < task.period)
                && it.response_max.map(|(response, _)| response) == tight
        });
        if assessment.answer != Answer::Proven || !is_by_backlog {
            continue;
        }
        let file = FileOrigin { name: "w".to_owned(), sha256: String::new(), modified: None };
        let origin = Origin { version: "", commit: "", workload: file, drive: None };
        let certificate = Certificate::of(&workload, &assessment, origin).expect("it is proven");
        let mut json = serde_json::to_value(&certificate).expect("string keys");
        // W or a bound that knows nothing of the backlog may be smaller than A: only equality counts.
        let least = |step: &serde_json::Value, requests: u64| {
            (step["requests"] == requests).then(|| step["response_ns"].clone())
        };
        let steps = json["backlog"].as_array().cloned().unwrap_or_default();
        let tasks = json["tasks"].as_array_mut().expect("tasks");
        let is_equal = tasks.iter().all(|task| {
            let requests = task["requests"].as_u64().expect("a number");
            let mut by_backlog = steps.iter().filter_map(|step| least(step, requests));
            by_backlog.next().as_ref() == Some(&task["response_ns_max"])
        });
        if !is_equal {
            continue;
        }
        if flaw == "lower-bound" {
            let task = &mut tasks[usize::try_from(number).expect("small") % workload.tasks.len()];
            let response = task["response_ns_max"].as_u64().expect("a number");
            task["response_ns_max"] = (response - 1).into();
        }
        println!("{json}");
        printed += 1;
    }
}

/// Returns a random workload with times from nanoseconds to years.
fn workload(random: &mut Pcg64) -> Workload {
    let unit = 10_u64.pow(random.random_range(0..12));
    let mut at = random.random_range(1..9) * unit;
    let batch_max = random.random_range(1..=12_u64);
    let mut times = Vec::new();
    for _ in 0..batch_max {
        times.push(at.to_string());
        at += random.random_range(0..4) * unit;
    }
    let mut text = format!(
        "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [{}]\n[policy]\nname = \"dqf\"\nbatch = {}\n",
        times.join(", "),
        random.random_range(1..=batch_max)
    );
    for task in 0..random.random_range(1..=4_u32) {
        let period = random.random_range(at..at * 24);
        let (requests, count) = (random.random_range(1..=5_u32), random.random_range(1..=3_u32));
        let _ = write!(
            text,
            "[[task]]\nname = \"t{task}\"\nperiod = \"{period}ns\"\nrequests = {requests}\n\
             count = {count}\nsize = \"4KiB\"\n"
        );
    }
    if random.random_bool(0.3) {
        text.push_str("[[best_effort]]\nname = \"b\"\noutstanding = 9\nsize = \"4KiB\"\n");
    }
    let file = WorkloadFile::parse(&text).expect("a valid file");
    let DriveReference::Inline(drive) = &file.drive else { unreachable!("an inline drive") };
    file.bind(drive).expect("an inline table covers everything")
}
