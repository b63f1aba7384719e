// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Decodes a page of the kernel's trace buffer (`trace_pipe_raw`).
//!
//! ```text
//!   timestamp  commit  | record | record | ...
//!                        u32: 5 bits type, 27 bits time since the previous record
//!                        type 0: a length and data    1..28: data of 4, 8, .. bytes
//!                        29: padding    30: more bits of the time    31: an absolute time
//! ```
//!
//! # Source
//! `include/linux/ring_buffer.h`, and `kbuffer-parse.c` of libtraceevent for the time of padding.
//! Only for little-endian machines.

use tidegate_model::Time;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const DELTA_BITS: u32 = 27;
/// The number of bits of an absolute time; the higher bits are those of the previous time.
const STAMP_BITS: u32 = 59;
/// The flags in `commit` that mean that records before this page were lost.
const MISSED: u64 = 0b11 << 30;

/// The layout of a page's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLayout {
    commit_size: usize,
    data_offset: usize,
}

impl PageLayout {
    /// Parses `events/header_page`; assumes the layout of a 64-bit kernel if a field is missing.
    pub fn parse(text: &str) -> Self {
        let number = |field: &str, key: &str| {
            let line = text.lines().find(|line| line.contains(field))?;
            line.split(key).nth(1)?.split(';').next()?.parse().ok()
        };
        Self {
            commit_size: number(" commit;", "size:").unwrap_or(8),
            data_offset: number(" data;", "offset:").unwrap_or(16),
        }
    }
}

/// A record of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// The time of the record on the trace's clock.
    pub at: Time,
    /// The record's bytes: an event in the format of its tracepoint.
    pub data: &'a [u8],
}

/// Returns the records of a page, without a record that is cut off by the page's end.
pub fn records(page: &[u8], layout: PageLayout) -> Vec<Record<'_>> {
    let mut found = Vec::new();
    let Some(stamp) = number(page, 0, 8) else { return found };
    let Some(commit) = number(page, 8, layout.commit_size) else { return found };
    let length = usize::try_from(commit & !MISSED & 0xffff_ffff).unwrap_or(0);
    let end = layout.data_offset.saturating_add(length).min(page.len());
    let mut rest = page.get(layout.data_offset..end).unwrap_or_default();
    let mut clock = stamp;
    while let Some((header, body)) = split_word(rest) {
        let delta = u64::from(header >> 5);
        let word = || split_word(body).map(|(word, _)| u64::from(word));
        let length = match header & 0x1f {
            PADDING if delta == 0 => break,
            TIME_STAMP => {
                let Some(high) = word() else { break };
                let low_bits = (high << DELTA_BITS | delta) & ((1 << STAMP_BITS) - 1);
                clock = clock >> STAMP_BITS << STAMP_BITS | low_bits;
                rest = &body[4..];
                continue;
            }
            TIME_EXTEND => {
                let Some(high) = word() else { break };
                clock = clock.wrapping_add(high << DELTA_BITS | delta);
                rest = &body[4..];
                continue;
            }
            PADDING | 0 => {
                let Some(length) = word() else { break };
                usize::try_from(length).unwrap_or(usize::MAX)
            }
            words => words as usize * 4,
        };
        clock = clock.wrapping_add(delta);
        let Some(data) = body.get(..length) else { break };
        match header & 0x1f {
            PADDING => {}
            // The length includes its own four bytes.
            0 => found
                .push(Record { at: Time::from_ns(clock), data: data.get(4..).unwrap_or_default() }),
            _ => found.push(Record { at: Time::from_ns(clock), data }),
        }
        rest = &body[length..];
    }
    found
}

fn split_word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*word), rest))
}

fn number(page: &[u8], offset: usize, size: usize) -> Option<u64> {
    let mut whole = [0; 8];
    let bytes = page.get(offset..offset.checked_add(size)?)?;
    for (to, from) in whole.iter_mut().zip(bytes) {
        *to = *from;
    }
    Some(u64::from_le_bytes(whole))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LAYOUT: PageLayout = PageLayout { commit_size: 8, data_offset: 16 };

    /// Returns a page with this time, these flags and these words.
    fn page(stamp: u64, flags: u64, words: &[u32]) -> Vec<u8> {
        let commit = (words.len() as u64 * 4) | flags;
        let head = [stamp, commit].into_iter().flat_map(u64::to_le_bytes);
        let mut page: Vec<u8> = head.chain(words.iter().flat_map(|it| it.to_le_bytes())).collect();
        page.resize(256, 0xff);
        page
    }

    /// Goal: every kind of record advances the clock and the position as in the kernel's own
    /// reader.
    #[test]
    fn each_kind_of_record_is_read() {
        let header = |kind: u32, delta: u32| (delta << 5) | kind;
        let words = [
            header(1, 5),
            0xa,
            header(TIME_EXTEND, 3),
            1,
            header(2, 0),
            0xb,
            0xc,
            header(PADDING, 1),
            8,
            0,
            header(0, 2),
            8,
            0xd,
            header(TIME_STAMP, 9),
            2,
            header(1, 1),
            0xe,
            header(PADDING, 0),
            0xf,
        ];
        let page = page(1_000, 1 << 31, &words);
        let extended = 1_005 + (1 << 27) + 3;
        let absolute = (2 << 27) + 9 + 1;
        let found = records(&page, LAYOUT);
        let times: Vec<u64> = found.iter().map(|record| record.at.ns()).collect();
        assert_eq!(times, [1_005, extended, extended + 3, absolute]);
        let words = |data: &[u8]| data.chunks(4).map(|it| it[0]).collect::<Vec<_>>();
        let data: Vec<_> = found.iter().map(|record| words(record.data)).collect();
        assert_eq!(data, [vec![0xa], vec![0xb, 0xc], vec![0xd], vec![0xe]]);
    }

    #[test]
    fn layout_is_that_of_the_kernel() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\t\
                    offset:8;\tsize:4;\tsigned:1;\n\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";
        assert_eq!(PageLayout::parse(text), PageLayout { commit_size: 4, data_offset: 12 });
        assert_eq!(PageLayout::parse(""), LAYOUT);
    }

    proptest! {
        /// A page of arbitrary bytes is read without reading beyond its end.
        #[test]
        fn no_page_is_misread_beyond_its_end(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let length: usize = records(&bytes, LAYOUT).iter().map(|it| it.data.len()).sum();
            prop_assert!(length <= bytes.len());
        }
    }
}
