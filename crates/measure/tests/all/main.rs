// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All tests of this crate, as one program: it is linked once, and its tests share the cores.

mod experiments;
mod flush;
mod ground_truth;
mod places;
mod real;
mod simulated;
mod stale;
mod stripe;
