// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sporadic servers on a simulated processor: the published figures, the invariants, and the
//! hybrids under load. One tick of the dissertation is a millisecond.

mod common;
mod figures;
mod hybrid;
