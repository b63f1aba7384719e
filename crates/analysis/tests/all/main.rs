// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All tests of this crate, as one program: it is linked once, and its tests share the cores.

mod assessment;
mod by_deadline;
mod closed_loops;
mod cost_limited;
mod curves;
mod das;
mod maxtor;
mod rtio;
mod tolerance;
