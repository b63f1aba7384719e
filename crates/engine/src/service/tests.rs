// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the core keeps its promises. Method: virtual time, with a simulated drive and a store that
//! keeps a journal.

mod admission;
mod asking;
mod changes;
mod clients;
mod contracts;
mod durability;
mod faults;
mod iterations;
mod notices;
mod order;
mod pieces;
