// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All tests of this crate, as one program: it is linked once, and its tests share the cores.

mod adaptive_drain;
mod common;
mod dqf;
mod dqf_cost;
mod drain_support;
mod edf;
mod fifo_and_noop;
mod gated_drain;
mod isolation;
mod linux;
mod positions;
mod rtio;
mod rtio_slots;
