// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The built-in hard disks against measurements of the real ones in papers.
//!
//! There is one file for each source or disk, and one for the bounds on batches. Each test states
//! its tolerance and the reason for it. The requests are those of the papers, drawn with a fixed
//! seed.

mod bounds;
mod common;
mod fujitsu;
mod maxtor;
mod maxtor_batches;
mod nearline;
mod other_disks;
mod reuther_pohlack;
mod streams;
