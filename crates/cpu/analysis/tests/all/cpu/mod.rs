// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the processor analysis with published figures, an independent library, and brute force.

mod brute_force;
mod edf;
mod figures;
mod generate;
mod host;
mod library;
mod measured;
mod priorities;
mod properties;
mod tick;
