// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All integration tests, in one program.

mod line;
mod machine;
