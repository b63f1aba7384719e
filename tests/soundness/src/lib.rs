// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares bounds (`analysis`) with behaviour (`policy`, `sim`): no observed response time may
//! exceed a proven bound.
//!
//! The theorems and their numbers are in `docs/theory`. Two kinds of test attack them. The
//! adversaries use only the model and not the bounds: they search all behaviour of sporadic tasks
//! and a device in a small system and find the true worst case. A bound below it is wrong; a bound
//! above it is loose by a known amount. The simulator runs the policies' own code on larger
//! systems, whose worst case no search can reach. Bounds and policies that are wrong on purpose
//! ([`optimistic`]) show that both kinds of test can fail.
//!
//! Time in small systems is counted in ticks; releases and completions happen at whole ticks.

pub mod adversary;
pub mod at_tolerance;
pub mod attack;
pub mod between;
pub mod black_box;
pub mod busy_interval;
pub mod cost_limited;
pub mod disk;
pub mod dq_edf;
pub mod drain_duel;
pub mod drain_reference;
pub mod drain_search;
pub mod drain_system;
pub mod drains;
pub mod dual_queue;
pub mod edf;
pub mod estimates;
pub mod forged;
pub mod frontier;
pub mod generate;
pub mod harness;
mod held;
pub mod host_time;
pub mod mixed;
pub mod optimistic;
pub mod places;
pub mod priority_box;
pub mod ratio;
pub mod schedules;
pub mod shared_fifo;
pub mod small;
pub mod strict_classes;
pub mod sweep;
pub mod tagged;
pub mod throttling;
pub mod trial;
pub mod workloads;

pub use small::{SmallSystem, SmallTask, Ticks, small};
