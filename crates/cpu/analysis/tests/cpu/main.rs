// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The analysis of a processor against figures in print, an independent library, and brute force.

mod brute_force;
mod edf;
mod figures;
mod generate;
mod library;
mod measured;
mod properties;
mod tick;
