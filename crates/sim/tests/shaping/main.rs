// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Traffic shaping of best effort: its arithmetic, its feedback, and the figures of Wu and
//! Brandt. One test crate, so that they share `common.rs`.

mod by_hand;
mod cheats;
mod common;
mod events;
mod figures;
mod invariants;
mod rhythm;
mod steering;
mod streams;
