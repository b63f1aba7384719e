// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The core in virtual time, on a simulated drive with a store that remembers everything.

mod admission;
mod changes;
mod clients;
mod contracts;
mod durability;
mod faults;
mod iterations;
mod order;
mod pieces;
