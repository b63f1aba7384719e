// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a page shows the facts of its results, fetches nothing, and takes no markup from a file.
//! Method: small results written by hand.

use serde_json::{Value, json};

use super::*;
use crate::result::ResultFile;

fn file(name: &str) -> Value {
    json!({ "name": name, "sha256": "ab12", "modified": null })
}

fn text(task: &str) -> Value {
    json!({
        "format": "tidegate-result",
        "version": 1,
        "command": "sim",
        "report": {
            "answer": "dqf kept every deadline.",
            "drive": "a drive", "model": "pseudo", "seed": 7,
            "policies": [
                { "policy": "dqf", "end": "complete", "answer": "KEPT",
                  "tasks": [{ "name": task, "jobs": 3, "misses": 0, "response_ns_max": 9_000_000,
                              "bound_ns": 12_000_000 }] },
                { "policy": "noop", "end": "not_run" },
            ],
            "origin": { "version": "9.9", "commit": "c0ffee", "workload": file("w.toml"), "drive": null },
        },
        "runs": [{
            "policy": "dqf",
            "sources": [{ "name": task, "is_best_effort": false,
                          "response_ns_steps": [[4_000_000, 2], [9_000_000, 1]] }],
            "longest_busy_interval": {
                "begin_ns": 1_000_000, "end_ns": 10_000_000, "events_left_out": 0,
                "events": [
                    { "at_ns": 1_000_000, "step": "released", "request": 4, "source": 0 },
                    { "at_ns": 2_000_000, "step": "dispatched", "request": 4, "source": 0, "batch": 1 },
                    { "at_ns": 10_000_000, "step": "completed", "request": 4, "source": 0 },
                ],
            },
        }],
    })
}

fn named(text: &Value) -> Result<NamedResult, UnreadableResult> {
    let file = FileOrigin { name: "r.json".to_owned(), sha256: "cd34".to_owned(), modified: None };
    NamedResult::of(file, ResultFile::read(&text.to_string())?)
}

fn result(task: &str) -> NamedResult {
    named(&text(task)).unwrap()
}

#[test]
fn a_page_shows_the_answer_the_figures_and_the_evidence() {
    let text = page(&[result("camera")]);
    let shown = [
        "dqf kept every deadline.",
        "a drive",
        "camera",
        "12.000ms",
        "9.000ms",
        "c0ffee",
        "w.toml, SHA-256 ab12",
        "r.json, SHA-256 cd34",
        "Longest busy interval",
        "Name",
        "Date",
    ];
    for fact in shown {
        assert!(text.contains(fact), "{fact}");
    }
    assert!(!text.contains("Observed under noop"));
    // The response waits from 0 to 1 of 9 ms, and is then on the drive.
    assert!(text.contains("class=\"waits\" d=\"M150.0 20H244.0\""), "{text}");
    assert!(text.contains("class=\"served\" d=\"M244.0 20H996.0\""));
}

#[test]
fn a_page_fetches_nothing() {
    let text = page(&[result("camera"), result("camera")]);
    for fetched in ["http", "src=", "href", "@import", "url(", "<script"] {
        assert!(!text.contains(fetched), "{fetched}");
    }
}

#[test]
fn a_name_is_no_markup() {
    let text = page(&[result("<script>alert(\"x\")</script>&")]);
    assert!(!text.contains("<script"));
    assert!(text.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;"));
}

#[test]
fn a_report_without_an_answer_is_refused() {
    let mut text = text("camera");
    text["report"].as_object_mut().unwrap().remove("answer");
    assert!(named(&text).unwrap_err().to_string().contains("answer"));
}
