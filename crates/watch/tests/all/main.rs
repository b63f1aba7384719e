// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a watch reports each request once, with its response time and its program. Method: streams
//! of events that are written by hand, generated at random, or recorded from kernels.

mod cases;
mod common;
mod declared;
mod learnt;
mod metrics;
mod on_device;
mod random;
mod recorded;
