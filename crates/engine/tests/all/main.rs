// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All tests of this crate, as one program: it is linked once, and its tests share the processors.

mod properties;
mod real_file;
mod virtual_time;
