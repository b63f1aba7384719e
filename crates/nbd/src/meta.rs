// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Metadata contexts, of which the server has one: `base:allocation`.

use crate::bytes::Reader;

/// The name of the only context.
pub(crate) const ALLOCATION: &str = "base:allocation";

/// The number that identifies the context in replies.
pub(crate) const ALLOCATION_ID: u32 = 1;

/// The largest number of queries in one option.
const QUERIES_MAX: u32 = 256;

/// A client's query: the export's name, and whether the client wants the context.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Query<'a> {
    pub(crate) export: &'a [u8],
    pub(crate) wants_allocation: bool,
}

/// Reads the data of a list or set option; `None` if it is malformed. In a list option, an empty
/// list of queries or the query `base:` selects the context too.
pub(crate) fn read(data: &[u8], is_list: bool) -> Option<Query<'_>> {
    let mut reader = Reader::new(data);
    let export = reader.text()?;
    let count = reader.u32()?;
    if count > QUERIES_MAX {
        return None;
    }
    let mut wants_allocation = is_list && count == 0;
    for _ in 0..count {
        let query = reader.text()?;
        wants_allocation |= query == ALLOCATION.as_bytes() || is_list && query == b"base:";
    }
    reader.is_empty().then_some(Query { export, wants_allocation })
}
