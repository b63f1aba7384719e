// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a watch tells of each request once, what it took, and whose it was. Method: streams of events
//! that are written by hand, drawn at random, and recorded from kernels.

mod cases;
mod common;
mod declared;
mod learnt;
mod on_device;
mod random;
mod recorded;
