// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kinds of requests: the cost of a request depends on its operation and its size.

use std::fmt;

use tidegate_model::{Bytes, Op};

/// An operation and a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Read or write.
    pub op: Op,
    /// The size.
    pub size: Bytes,
}

impl Kind {
    /// Returns every operation in every size, each once.
    pub fn all(ops: &[Op], sizes: &[Bytes]) -> Vec<Self> {
        let of_op = |&op| sizes.iter().map(move |&size| Self { op, size });
        distinct(ops.iter().flat_map(of_op))
    }
}

/// Returns each value once, in the order of first occurrence.
pub(crate) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s of {}", self.op.name(), self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_named_twice_is_one() {
        let [small, large] = [Bytes::from_kib(4), Bytes::from_kib(128)];
        let all = Kind::all(&[Op::Read, Op::Write, Op::Read], &[small, large, small]);
        let expected = [Op::Read, Op::Write].map(|op| [small, large].map(|size| Kind { op, size }));
        assert_eq!(all, expected.concat());
    }
}
