// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The index: a tree of runs of equal pieces, and the search for a track in it.
//!
//! ```text
//! root   | run of 17 nodes | node | run of 6 nodes | ...
//!           |
//! node      | run of 32 tracks, head 0 | run of 32 tracks back, head 1 | ...
//! ```
//! Sectors, cylinders and angles in a node are relative to the node's beginning. The search adds
//! them up as it descends. Sectors here are slots, which include slipped sectors.

use crate::mechanical::layout::angles::{TrackAngles, UNITS_PER_PPM};
use crate::mechanical::layout::steps::Table;

/// A kind of track: its number of sectors, and the sectors that hold data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// The first physical sector with data.
    pub(super) first: u32,
    /// The number of sectors with data, from `first` on.
    pub(super) data: u32,
    pub(super) sectors_per_track: u32,
}

/// The piece that a run repeats: a track or a node.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece {
    Track { kind: u32, head: u32 },
    Node(u32),
}

/// A run of equal pieces. It fills one cache line, because an index is larger than the processor's
/// first-level cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Entry {
    /// The number of the node's sectors before the run.
    pub(super) before: u64,
    /// The number of sectors in the run.
    pub(super) run: u64,
    /// The number of sectors in each piece; the last piece can have fewer.
    pub(super) sectors: u64,
    /// The cylinder of the first piece.
    pub(super) cylinder: u32,
    /// The number of cylinders of each piece.
    pub(super) cylinders: u32,
    /// The number of pieces.
    pub(super) pieces: u32,
    /// Whether each piece lies further out than the previous one.
    pub(super) is_outwards: bool,
    /// The angle of the first piece, in ppm of a turn; `skew_ppm` is added for each further piece.
    pub(super) offset_ppm: u32,
    pub(super) skew_ppm: u32,
    pub(super) piece: Piece,
}

impl Entry {
    /// Returns the lowest cylinder of the run.
    pub(super) fn low(&self) -> u32 {
        let back = if self.is_outwards { (self.pieces - 1) * self.cylinders } else { 0 };
        self.cylinder - back
    }

    /// Returns the highest cylinder of the run.
    pub(super) fn high(&self) -> u32 {
        self.low() + self.pieces * self.cylinders - 1
    }

    /// Returns a key by which runs are sorted: 0 for a node, which covers all heads, and the head's
    /// number plus 1 for a track. Runs with the same key never share cylinders.
    pub(super) fn key(&self) -> u32 {
        match self.piece {
            Piece::Node(_) => 0,
            Piece::Track { head, .. } => head + 1,
        }
    }

    fn cylinder_of(&self, piece: u32) -> u32 {
        let way = piece * self.cylinders;
        if self.is_outwards { self.cylinder - way } else { self.cylinder + way }
    }

    fn piece_at(&self, cylinder: u32) -> u32 {
        let piece = (cylinder - self.low()) / self.cylinders;
        if self.is_outwards { self.pieces - 1 - piece } else { piece }
    }
}

/// A node of the index.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// The look-up table of the `before` figures of the node's entries.
    pub(super) befores: Table,
    /// The index of the node's first entry.
    pub(super) first: usize,
    /// The indices of the node's entries, sorted by key and cylinder.
    pub(super) by_place: Vec<u32>,
    /// The number of sectors in the node.
    pub(super) sectors: u64,
    /// The number of cylinders that the node spans.
    pub(super) cylinders: u32,
    /// The number of sectors on the node's longest track.
    pub(super) sectors_per_track: u32,
    /// The nesting depth, this node included.
    pub(super) depth: u32,
}

/// The index over tracks, as a tree.
///
/// # Invariants
/// - Entries of a node are consecutive without gaps; an entry refers only to earlier nodes.
/// - No two runs of a node share a track; a node spans at most as many cylinders as the entry that
///   refers to it gives each piece.
/// - The last node is the root and spans only cylinders of the disk.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) kinds: Vec<Kind>,
    pub(super) entries: Vec<Entry>,
    pub(super) nodes: Vec<Node>,
}

/// A track found in the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Track {
    pub(super) cylinder: u32,
    pub(super) head: u32,
    pub(super) kind: Kind,
    /// The track's slots, from `begin` up to but not including `end`.
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) offset_ppm: u64,
}

impl Track {
    /// Returns the angles at which the track's sectors begin.
    pub(super) fn angles(&self) -> TrackAngles {
        let Kind { first, sectors_per_track, .. } = self.kind;
        // The offset belongs to the first sector with data, wherever that is on the track.
        let origin = (sectors_per_track - first) % sectors_per_track;
        TrackAngles {
            sectors_per_track,
            origin_millisectors: 1_000 * u64::from(origin),
            origin_units: self.offset_ppm % 1_000_000 * UNITS_PER_PPM,
        }
    }
}

impl Tree {
    /// Returns the root.
    pub(super) fn root(&self) -> &Node {
        self.nodes.last().expect("an index has a root")
    }

    /// Returns the entries of a node.
    pub(super) fn entries_of(&self, node: &Node) -> &[Entry] {
        &self.entries[node.first..node.first + node.by_place.len()]
    }

    /// Returns the track that contains a slot of the root.
    pub(super) fn locate(&self, slot: u64) -> Track {
        let mut node = self.root();
        let (mut into, mut left) = (slot, u64::MAX);
        let (mut cylinder, mut offset_ppm) = (0, 0);
        loop {
            let entry = self.entry(node, into);
            into -= entry.before;
            left = left.min(entry.run - into);
            let piece = into / entry.sectors;
            into -= piece * entry.sectors;
            left = left.min(entry.sectors - into);
            offset_ppm += u64::from(entry.offset_ppm) + piece * u64::from(entry.skew_ppm);
            cylinder += entry.cylinder_of(u32::try_from(piece).expect("one of the run's pieces"));
            match entry.piece {
                Piece::Node(child) => node = &self.nodes[child as usize],
                Piece::Track { kind, head } => {
                    return Track {
                        cylinder,
                        head,
                        kind: self.kinds[kind as usize],
                        begin: slot - into,
                        end: slot + left,
                        offset_ppm,
                    };
                }
            }
        }
    }

    /// Returns the node's entry that contains `slot`, which is relative to the node.
    fn entry(&self, node: &Node, slot: u64) -> &Entry {
        let range = node.befores.range(slot);
        let entries = &self.entries[node.first + range.start..node.first + range.end];
        let after = entries.partition_point(|entry| entry.before <= slot);
        &self.entries[node.first + range.start + after - 1]
    }

    /// Returns the track of a cylinder and a head; `None` if the index has none.
    pub(super) fn find(&self, cylinder: u32, head: u32) -> Option<Track> {
        let mut node = self.root();
        let (mut begin, mut within) = (0, cylinder);
        loop {
            let entry =
                self.entry_at(node, 0, within).or_else(|| self.entry_at(node, head + 1, within))?;
            let piece = entry.piece_at(within);
            within -= entry.cylinder_of(piece);
            begin += entry.before + u64::from(piece) * entry.sectors;
            match entry.piece {
                Piece::Node(child) => node = &self.nodes[child as usize],
                Piece::Track { .. } => break,
            }
        }
        // A piece can use less than its whole node: then this slot belongs to another track.
        let is_used = begin < self.root().sectors;
        let track = is_used.then(|| self.locate(begin))?;
        ((track.cylinder, track.head) == (cylinder, head)).then_some(track)
    }

    fn entry_at(&self, node: &Node, key: u32, cylinder: u32) -> Option<&Entry> {
        let entries = self.entries_of(node);
        let at = |index: &u32| &entries[*index as usize];
        let after = node
            .by_place
            .partition_point(|index| (at(index).key(), at(index).low()) <= (key, cylinder));
        let entry = at(&node.by_place[after.checked_sub(1)?]);
        (entry.key() == key && entry.high() >= cylinder).then_some(entry)
    }
}
