// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu check` of servers and the work behind them.

use crate::common::Folder;
use crate::table_6_1;

const EVENTS: &str = r#"
[[cpu_work]]
name = "events"
server = "2"
arrivals = "sporadic"
gap = "100ms"
execution = "18ms"
deadline = "80ms"
"#;

#[test]
fn corrected_servers_are_tasks_and_posix_ones_are_not() {
    let folder = Folder::new();
    folder.file("w.toml", &table_6_1(EVENTS));
    let (code, check) = folder.json(&["cpu", "check", "w.toml"]);
    assert_eq!((code, check["verdict"].as_str()), (0, Some("proven")));
    assert_eq!(check["tasks"][1]["response_ns_max"], 99_000_000);
    let server = &check["servers"][0];
    assert_eq!(
        (server["kind"].as_str(), server["budget_ns"].as_u64()),
        (Some("sporadic"), Some(20_000_000))
    );
    assert_eq!(server["response_ns_max"], 30_000_000);
    // A period until the budget is back, 18 of it, and task 1 in the way.
    assert_eq!(check["work"][0]["response_ns_max"], 78_000_000);

    folder.file(
        "w.toml",
        &table_6_1(EVENTS).replace("\"sporadic\"\nbudget", "\"posix-sporadic\"\nbudget"),
    );
    let (code, check) = folder.json(&["cpu", "check", "w.toml"]);
    assert_eq!((code, check["verdict"].as_str()), (1, Some("not_applicable")));
    let reason = check["reason"].as_str().unwrap();
    assert!(
        reason.contains("`2` is posix-sporadic, which may execute more than its budget"),
        "{reason}"
    );
    assert_eq!(check["tasks"][0]["response_ns_max"], 10_000_000, "above it all is well");
    assert!(check["tasks"][1]["not_applicable"].as_str().is_some());
    let (_, text, _) = folder.run(&["cpu", "check", "w.toml"]);
    assert!(text.contains("NOT APPLICABLE: server `2`"), "{text}");
    assert!(text.contains("No bound     3, 2: server `2` is posix-sporadic"), "{text}");
    assert!(text.contains("No bound     events: there is no bound for work behind"), "{text}");
}

#[test]
fn random_arrivals_have_no_bound_and_no_deadline_needs_none() {
    let folder = Folder::new();
    let random = table_6_1(EVENTS).replace("\"sporadic\"\ngap", "\"poisson\"\ngap");
    folder.file("w.toml", &random);
    let (code, check) = folder.json(&["cpu", "check", "w.toml"]);
    assert_eq!((code, check["verdict"].as_str()), (1, Some("not_applicable")));
    folder.file("w.toml", &random.replace("deadline = \"80ms\"\n", ""));
    let (code, check) = folder.json(&["cpu", "check", "w.toml"]);
    assert_eq!((code, check["verdict"].as_str()), (0, Some("proven")));
    assert!(check["work"][0]["deadline_ns"].is_null());
}
