// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the repository itself, not of a program in it: links and references to the docs must
//! have a target, and sentences must follow the rules of `docs/reference/prose.md`.
//!
//! The library reads files; the rules and their canaries are in `tests`.

pub mod files;
pub mod markdown;
pub mod prose;
pub mod references;
pub mod rust_text;
