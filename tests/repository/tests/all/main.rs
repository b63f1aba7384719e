// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All tests of this crate, as one program: it is linked once, and its tests share the processors.

mod facts;
mod layering;
mod links;
mod probe_policy;
mod prose;
mod theorems;
