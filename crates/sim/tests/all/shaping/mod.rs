// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of traffic shaping of best effort: its arithmetic, its feedback, and the figures of Wu and
//! Brandt. They form one test crate to share `common.rs`.

mod by_hand;
mod cheats;
mod common;
mod events;
mod invariants;
mod rate_control;
mod releases;
mod streams;
