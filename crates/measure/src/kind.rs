// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kinds of requests: what a request costs depends on its operation and its size.

use std::fmt;

use model::{Bytes, Op};

/// An operation and a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Read or write.
    pub op: Op,
    /// How much.
    pub size: Bytes,
}

impl Kind {
    /// Every operation in every size.
    pub fn all(ops: &[Op], sizes: &[Bytes]) -> Vec<Self> {
        let of_op = |&op| sizes.iter().map(move |&size| Self { op, size });
        ops.iter().flat_map(of_op).collect()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s of {}", self.op.name(), self.size)
    }
}
