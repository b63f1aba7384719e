// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All tests of this crate, as one program: it is linked once, and its tests share the cores.

mod adversary;
mod by_deadline;
mod canary;
mod cost_limited;
mod das;
mod deferred_writes;
mod dq_edf;
mod drain_searches;
mod drains;
mod expected;
mod isolation;
mod mixed;
mod orders;
mod places;
mod priority;
mod rtio;
mod searches;
mod shaping;
mod soft;
mod soundness;
mod strict_classes;
mod throttling;
mod tolerance;
mod tolerance_runs;
