// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where promises (`analysis`) meet deeds (`policy`, `sim`): no observed response may
//! exceed a proven bound.
//!
//! The theorems and their numbers are in `docs/theory/model.md`. They are attacked in two ways. The
//! adversaries know the model and nothing of the bounds: they search all that sporadic
//! tasks and a device may do in a small system and find the true worst case, so that a
//! bound below it is wrong and a bound above it is known to be loose. The simulator runs
//! the policies' own code on larger systems, where the worst case is out of reach. Bounds
//! and policies that are wrong on purpose ([`optimistic`]) show that both can fail.
//!
//! Time in small systems counts in ticks; releases and completions happen at whole ticks.

pub mod adversary;
pub mod black_box;
pub mod busy_interval;
pub mod cost_limited;
pub mod dq_edf;
pub mod drain_duel;
pub mod drain_reference;
pub mod drain_search;
pub mod drain_system;
pub mod drains;
pub mod edf;
pub mod estimates;
pub mod frontier;
pub mod generate;
pub mod harness;
pub mod mixed;
pub mod optimistic;
pub mod priority_box;
pub mod ratio;
pub mod schedules;
pub mod shared_fifo;
pub mod small;
pub mod tagged;
pub mod throttling;
pub mod trial;
pub mod workloads;

pub use small::{SmallSystem, SmallTask, Ticks, small};
