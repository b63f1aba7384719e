// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: clients and services of different versions understand each other.

use super::*;

/// Goal: a reply that lacks an expected field is an error; the field is never read as zero. Fields
/// that the client does not know are ignored. Method: add a field, and rename one.
#[test]
fn a_reply_without_an_expected_field_is_refused() {
    let heard = "{\"ok\":true,\"is_heard\":true,\"more\":1}";
    assert_eq!(read(heard).unwrap(), Ok(Heard { is_heard: true }));
    let renamed = "{\"ok\":true,\"was_heard\":true}";
    assert!(read::<Heard>(renamed).is_err() && is_reply(renamed));
    assert!(!is_reply("HTTP/1.1 400 Bad Request"));
}

#[test]
fn a_reply_says_first_whether_it_is_one_and_a_refusal_is_read_as_it_was_written() {
    let written = serde_json::to_string(&Done::new(Heard { is_heard: false })).unwrap();
    assert_eq!(written, "{\"ok\":true,\"is_heard\":false}");
    let refused = Failed {
        ok: false,
        error: "no".to_owned(),
        help: String::new(),
        is_refused: true,
        would_fit: vec!["half".to_owned()],
    };
    let written = serde_json::to_string(&refused).unwrap();
    assert_eq!(read::<Heard>(&written).unwrap(), Err(refused));
    let plain = "{\"ok\":false,\"error\":\"what?\",\"help\":\"write it so\"}";
    assert!(!read::<Heard>(plain).unwrap().unwrap_err().is_refused);
}

/// The replies of the first service that had these types. A field that is added to a reply without
/// a default makes one of them unreadable.
mod first {
    pub(super) const STATUS: &str = r#"{"ok":true,"version":"0.1.0","policy":"dqf",
        "hears_notices":false,"uptime_ns":5,"real_time":{"is_granted":true,"text":"granted"},
        "is_degraded":false,"exports":[{"name":"camera","offset_bytes":0,"size_bytes":4096,
        "is_read_only":false,"contract":{"requests":1,"period_ns":9,"deadline_ns":8,
        "size_bytes_max":4096,"op":null,"beyond":"wait"},"bound_ns":7,"weight":1,
        "limit_bytes_per_s":null,"is_degraded":false,"failed":0}]}"#;

    pub(super) const STATISTICS: &str = r#"{"ok":true,"uptime_ns":5,"is_degraded":false,
        "exports":[{"name":"camera","requests":3,"requests_best_effort":0,"misses":0,"exceeded":0,
        "unexplained":0,"beyond":0,"failed":0,"outstanding":0,"tokens":1,"tokens_max":1,
        "transferred_bytes":4096,"flushes":0,"response_ns_min":1,"response_ns_mean":2,
        "response_ns_p50":2,"response_ns_p99":3,"response_ns_p999":3,"response_ns_max":3,
        "bound_ns":7,"deadline_ns":8,"is_degraded":false}],
        "drive":{"in_flight":0,"batches":3,"batch_ns_p50":2,"batch_ns_max":3,"overruns":0,
        "overrun_ns_sum":0,"overrun_ns_max":0,"stalls":0}}"#;

    pub(super) const ADMITTED: &str = r#"{"ok":true,"export":"camera","offset_bytes":0,
        "size_bytes":4096,"policy":"dqf","bounds":[{"name":"camera","bound_ns":7,"deadline_ns":8}],
        "note":"until the service ends"}"#;

    pub(super) const REMOVED: &str = r#"{"ok":true,"export":"camera","is_free":true,"requests":3,
        "misses":0,"response_ns_max":3,"unanswered":0,"policy":"dqf","bounds":[],
        "note":"until the service ends"}"#;

    pub(super) const FAILED: &str = r#"{"ok":false,"error":"what?","help":"write it so"}"#;
}

/// Reads a reply, which must be a success.
fn read_reply<T: DeserializeOwned>(line: &str) -> T {
    read(line).expect("readable").expect("a success")
}

#[test]
fn replies_of_the_first_service_are_read() {
    let status: Status = read_reply(first::STATUS);
    assert_eq!((status.exports[0].bound_ns, status.degradations, status.grade), (Some(7), 0, None));
    assert_eq!(status.guarantee(), Guarantee::Stands { failed: 0 });
    let statistics: Statistics = read_reply(first::STATISTICS);
    let export = &statistics.exports[0];
    assert_eq!((export.requests, export.excess_ns_max, export.socket_ns_max), (3, 0, 0));
    assert_eq!((statistics.drive.batches, statistics.drive.overruns_tolerated), (3, 0));
    assert_eq!(read_reply::<AdmittedExport>(first::ADMITTED).bounds[0].deadline_ns, Some(8));
    assert_eq!(read_reply::<RemovedExport>(first::REMOVED).requests, 3);
    let failed = read::<Status>(first::FAILED).expect("readable").expect_err("a failure");
    assert_eq!((&*failed.error, failed.is_refused), ("what?", false));
}

#[test]
fn what_a_newer_service_adds_is_ignored() {
    for line in [first::STATUS, first::STATISTICS, first::ADMITTED, first::REMOVED] {
        let newer = line.replace("\"ok\":true", "\"ok\":true,\"new\":{\"more\":[1]}");
        let is_read = [
            read::<Status>(&newer).is_ok(),
            read::<Statistics>(&newer).is_ok(),
            read::<AdmittedExport>(&newer).is_ok(),
            read::<RemovedExport>(&newer).is_ok(),
        ];
        assert_eq!(is_read.into_iter().filter(|is_read| *is_read).count(), 1, "{newer}");
    }
}
