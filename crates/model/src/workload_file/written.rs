// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Values that a workload file may write in more than one form.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A value that may be written as a string, a number, a list or a table.
pub(super) trait Written: Sized {
    const EXPECTED: &'static str;

    /// Reads the value in whichever form it has.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenVisitor(PhantomData))
    }
    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        Err(E::custom(format!("`{text}` is not understood here\nwrite {}", Self::EXPECTED)))
    }
    fn from_number<E: Error>(number: i64) -> Result<Self, E> {
        Err(E::custom(format!("`{number}` is not understood here\nwrite {}", Self::EXPECTED)))
    }
    fn from_list<'de, A: SeqAccess<'de>>(_list: A) -> Result<Self, A::Error> {
        Err(A::Error::custom(format!("a list is not understood here\nwrite {}", Self::EXPECTED)))
    }
    fn from_table<'de, A: MapAccess<'de>>(_table: A) -> Result<Self, A::Error> {
        Err(A::Error::custom(format!("a table is not understood here\nwrite {}", Self::EXPECTED)))
    }
}

struct WrittenVisitor<W>(PhantomData<W>);

impl<'de, W: Written> Visitor<'de> for WrittenVisitor<W> {
    type Value = W;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(W::EXPECTED)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<W, E> {
        W::from_text(text)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<W, E> {
        W::from_number(number)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<W, A::Error> {
        W::from_list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<W, A::Error> {
        W::from_table(table)
    }
}

/// Implements `Deserialize` by [`Written`].
macro_rules! deserialize_written {
    ($($value:ty),+) => {$(
        impl<'de> serde::Deserialize<'de> for $value {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Written::read(deserializer)
            }
        }
    )+};
}
pub(super) use deserialize_written;
