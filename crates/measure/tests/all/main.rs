// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All tests of this crate, in one program, so that it is linked only once and the tests share the
//! cores.

mod experiments;
mod flush;
mod ground_truth;
mod places;
mod real;
mod simulated;
mod stale;
mod stripe;
