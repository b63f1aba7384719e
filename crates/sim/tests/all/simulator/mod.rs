// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the virtual-time host. They form one test crate to share `common.rs`.

mod arrivals;
mod batch_cost;
mod by_hand;
mod canaries;
mod common;
mod due_order;
mod endings;
mod full_policies;
mod invariants;
mod late_drives;
mod lifetimes;
mod orders;
mod outcomes;
mod regulated;
mod releases;
mod replay;
mod rule_canaries;
mod scenarios;
mod stories;
