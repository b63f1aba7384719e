// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Servers through the binary: `cpu check`, `cpu sim` and `cpu conformance`.

mod check;
#[path = "../common/mod.rs"]
mod common;
mod conformance;
mod sim;

/// Table 6.1 of the dissertation with task 2 as a server, a tick a millisecond, and this work behind
/// it.
fn table_6_1(work: &str) -> String {
    format!(
        r#"
[[cpu_task]]
name = "1"
execution = "10ms"
period = "200ms"
offset = "41ms"
deadline = "20ms"
priority = 3
[[cpu_server]]
name = "2"
kind = "sporadic"
budget = "20ms"
period = "50ms"
priority = 2
[[cpu_task]]
name = "3"
execution = "49ms"
period = "200ms"
deadline = "100ms"
priority = 1
{work}"#
    )
}
