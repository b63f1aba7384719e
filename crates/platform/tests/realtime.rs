// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests that real-time scheduling reports what was granted and what was refused. This is a
//! separate test program, because locked memory concerns the whole process.

use tidegate_platform::realtime;

#[test]
fn the_grant_says_what_was_granted_and_how_to_get_the_rest() {
    let answer = realtime::request(realtime::PRIORITY);
    let text = answer.to_string();
    println!("{text}");
    assert_eq!(answer.scheduling.is_err(), text.contains("no real-time scheduling"));
    assert_eq!(answer.memory.is_err(), text.contains("not locked"));
    assert_eq!(answer.is_complete(), !text.contains("run as root"));
}

/// Goal: a server's memory comes in small pages, regardless of what its allocator requests.
#[test]
fn a_server_has_no_huge_pages() {
    realtime::request_for_server(realtime::PRIORITY);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let enabled = status.lines().find_map(|line| line.strip_prefix("THP_enabled:"));
    let Some(enabled) = enabled else { return eprintln!("skipped: the kernel does not tell") };
    assert_eq!(enabled.trim(), "0");
}

#[test]
#[should_panic(expected = "priorities 1 to 99")]
fn priority_0_is_none() {
    realtime::request(0);
}
