// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a handout shows the facts of its results, fetches nothing, and accepts no markup from a
//! file. Method: small handwritten results.

use serde_json::{Value, json};

use super::*;
use crate::result::ResultFile;

fn file(name: &str) -> Value {
    json!({ "name": name, "sha256": "ab12", "modified": null })
}

fn table(ns_max: [u64; 2]) -> Value {
    json!({ "op": "read", "size_bytes": 4096, "samples": 100, "ns_max": ns_max })
}

fn text(task: &str) -> Value {
    json!({
        "format": "tidegate-result",
        "version": 2,
        "command": "sim",
        "made": "2026-02-03T00:00:00Z",
        "drive": {
            "name": "a drive", "when": "2026-01-31T10:00:00Z", "where": "machine", "how": "profile",
            "batch": [table([5_000_000, 8_000_000])], "drain": [table([6_000_000, 7_000_000])],
            "seek_ns": [[1, 600_000], [9, 4_000_000]],
        },
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
            "curves": [{
                "tasks": [task], "bound_ns": 12_000_000, "reason": null,
                "drawn": {
                    "argument": "batches", "shows": "distance", "requests": 3, "from_ns": 0,
                    "to_ns": 11_000_000, "after_ns": 0, "outside_ns": 1_000_000,
                    "requested_ns_steps": [[0, 3]],
                    "served_ns_steps": [[5_000_000, 2], [11_000_000, 3]],
                },
            }],
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
        "r.json, made 2026-02-03T00:00:00Z, SHA-256 cd34",
        "Longest busy interval",
        "The largest horizontal distance is 11.000ms",
        "Jitter and host add 1.000ms. This is the bound of camera: 12.000ms.",
        "2026-01-31T10:00:00Z, 2 days before this result",
        "Longest time of a batch (reads of 4KiB)",
        "Longest time to drain (reads of 4KiB)",
        "Seek time by distance",
        "Name",
        "Date",
    ];
    for fact in shown {
        assert!(text.contains(fact), "{fact}");
    }
    assert!(!text.contains("Observed under noop"));
    // The request waits from 0 to 1 ms of 9 ms, and is then on the drive.
    assert!(text.contains("class=\"waits\" d=\"M0.0 7H106.4\""), "{text}");
    assert!(text.contains("class=\"served\" d=\"M106.4 7H958.0\""));
}

#[test]
fn markdown_has_the_same_facts_and_no_charts() {
    let text = markdown(&[result("camera|1 $x$")]);
    let shown = [
        "**dqf kept every deadline.**",
        "| camera\\|1 \\$x\\$ | 3 | 0 |",
        "12.000ms |",
        "SHA-256 ab12",
        "2 days before this result",
        "| reads of 4KiB | 6.000ms | 7.000ms |",
        "The largest horizontal distance is 11.000ms",
    ];
    for fact in shown {
        assert!(text.contains(fact), "{fact} in {text}");
    }
    assert!(!text.contains('<') && !text.contains("\n\n\n"), "{text}");
}

#[test]
fn a_page_fetches_nothing() {
    let text = page(&[result("camera"), result("camera")]);
    // Two addresses are allowed: the name of SVG, and the empty icon, without which a browser would
    // request one.
    let text = text.replace("http://www.w3.org/2000/svg", "").replace("href=\"data:,\"", "");
    for fetched in ["http", "src=", "href", "@import", "url(", "fetch(", "import("] {
        assert!(!text.contains(fetched), "{fetched}");
    }
}

#[test]
fn a_name_is_no_markup() {
    let text = page(&[result("<script>alert(\"x\")</script>&")]);
    assert!(!text.contains("<script>alert"));
    assert!(text.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;"));
}

/// Goal: a name neither changes the direction of the text after it nor notifies anyone.
#[test]
fn a_name_stays_a_name() {
    let named = || [result("a\u{202e}b\u{1b}[2J @user\n")];
    let (page, text) = (page(&named()), markdown(&named()));
    assert!(page.contains("a?b?[2J @user "), "{page}");
    assert!(text.contains("a?b?\\[2J @&#8203;user "), "{text}");
    assert!([page, text].iter().all(|it| !it.contains(['\u{202e}', '\u{1b}'])));
}

/// Goal: no file makes a page panic. Method: values that no run writes, in each number that is
/// drawn.
#[test]
fn a_foreign_file_is_refused_or_drawn() {
    let places = [
        ("/runs/0/longest_busy_interval/end_ns", Some("ends before")),
        ("/runs/0/longest_busy_interval/begin_ns", None),
        ("/runs/0/longest_busy_interval/events/1/at_ns", None),
        ("/runs/0/longest_busy_interval/events/1/source", None),
        ("/runs/0/longest_busy_interval/events/1/request", None),
        ("/runs/0/sources/0/response_ns_steps/0/0", Some("must rise")),
        ("/runs/0/sources/0/response_ns_steps/1/0", None),
        ("/runs/0/sources/0/response_ns_steps/0/1", Some("have a sum")),
        ("/drive/batch/0/ns_max/1", None),
        ("/drive/batch/0/size_bytes", None),
        ("/drive/seek_ns/1/0", None),
        ("/drive/seek_ns/1/1", None),
        ("/report/policies/0/tasks/0/bound_ns", None),
        ("/report/policies/0/tasks/0/response_ns_max", None),
        ("/report/seed", None),
        ("/runs/0/curves/0/bound_ns", Some("must show the bound")),
        ("/runs/0/curves/0/drawn/to_ns", Some("must show the bound")),
        ("/runs/0/curves/0/drawn/requests", Some("where their steps show")),
        ("/runs/0/curves/0/drawn/requested_ns_steps/0/0", Some("where their steps show")),
        ("/runs/0/curves/0/drawn/requested_ns_steps/0/1", Some("where their steps show")),
        ("/runs/0/curves/0/drawn/served_ns_steps/1/0", Some("must rise")),
        ("/runs/0/curves/0/drawn/served_ns_steps/1/1", Some("must rise")),
    ];
    for (place, refusal) in places {
        let mut said = Vec::new();
        for number in [0, u32::MAX.into(), u64::MAX - 1, u64::MAX] {
            let mut text = text("camera");
            *text.pointer_mut(place).expect(place) = number.into();
            match named(&text) {
                Ok(result) => _ = page(&[result]),
                Err(error) => said.push(error.to_string()),
            }
        }
        assert!(said.iter().all(|it| it.starts_with("it is a damaged result file")), "{said:?}");
        let is_said = |refusal| said.iter().any(|it| it.contains(refusal));
        assert!(refusal.is_none_or(is_said), "{place}: {said:?}");
    }
}

#[test]
fn a_report_without_an_answer_is_refused() {
    let mut text = text("camera");
    text["report"].as_object_mut().unwrap().remove("answer");
    assert!(named(&text).unwrap_err().to_string().contains("answer"));
}
