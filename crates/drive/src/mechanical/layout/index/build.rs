// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Builds the tree from the rows of an index and checks them.
//!
//! A row may refer only to earlier nodes. So there are no cycles, and a node's facts are known
//! when a row refers to it.

use tidegate_model::mechanics::{MechanicsError, TrackIndex};

use super::text::{Row, Rows};
use super::tree::{Entry, Kind, Node, Piece, Tree};
use crate::mechanical::layout::check::check_sectors_per_track;
use crate::mechanical::layout::steps::Table;
use crate::mechanical::wrong::wrong;

/// The largest nesting depth of nodes.
const DEPTH_MAX: u32 = 16;

/// The largest number of rows.
const ROWS_MAX: usize = 1 << 24;

/// Builds the tree of a disk with these surfaces and cylinders.
pub(super) fn build(
    index: &TrackIndex,
    surfaces: u32,
    cylinders: u32,
) -> Result<Tree, MechanicsError> {
    let tree = Tree { kinds: kinds(&index.tracks)?, entries: Vec::new(), nodes: Vec::new() };
    let draft = Draft::default();
    let mut builder = Builder { surfaces, cylinders, tree, draft, surplus: None };
    for row in Rows::new("index", &index.index) {
        if let Some(surplus) = builder.surplus {
            return Err(surplus);
        }
        if row.is_separator() {
            builder.close()?;
        } else {
            builder.add(&row)?;
        }
    }
    builder.close()?;
    Ok(builder.tree)
}

fn kinds(text: &str) -> Result<Vec<Kind>, MechanicsError> {
    let mut kinds = Vec::new();
    for mut row in Rows::new("tracks", text) {
        let (first, last) = (row.number("first")?, row.number("last")?);
        let sectors = row.number("sectors_per_track")?;
        row.end()?;
        let sectors_per_track = check_sectors_per_track(&row.field("sectors_per_track"), sectors)?;
        if first > last || last >= sectors {
            return Err(row.wrong(
                "last",
                format!("data from sector {first} to sector {last} of {sectors}"),
                "write the first and the last sector with data, counted from 0",
            ));
        }
        let [first, last] = [first, last].map(|each| u32::try_from(each).expect("on a track"));
        kinds.push(Kind { first, data: last - first + 1, sectors_per_track });
    }
    Ok(kinds)
}

/// The facts of the node being read.
#[derive(Default)]
struct Draft {
    befores: Vec<u64>,
    sectors: u64,
    cylinders: u32,
    sectors_per_track: u32,
    /// The nesting depth below the node.
    depth: u32,
}

struct Builder {
    surfaces: u32,
    cylinders: u32,
    tree: Tree,
    draft: Draft,
    /// The error of a row that is allowed only as the last one; reported if another row follows.
    surplus: Option<MechanicsError>,
}

impl Builder {
    /// Reads an entry of the node being read.
    fn add(&mut self, row: &Row<'_>) -> Result<(), MechanicsError> {
        let mut entry = self.read(row)?;
        let piece = self.piece_of(&entry);
        self.check_piece(row, &mut entry, piece)?;
        if self.tree.entries.len() == ROWS_MAX {
            return Err(row.wrong("sectors_before", "too many rows", "write fewer"));
        }
        let draft = &mut self.draft;
        draft.befores.push(entry.before);
        draft.sectors = draft
            .sectors
            .checked_add(entry.run)
            .ok_or_else(|| row.wrong("run_sectors", "too many sectors", "write fewer"))?;
        draft.cylinders = draft.cylinders.max(entry.high() + 1);
        draft.sectors_per_track = draft.sectors_per_track.max(piece.sectors_per_track);
        draft.depth = draft.depth.max(piece.depth);
        self.tree.entries.push(entry);
        Ok(())
    }

    fn read(&self, row: &Row<'_>) -> Result<Entry, MechanicsError> {
        let mut row = row.clone();
        let before = row.number("sectors_before")?;
        let cylinder = row.number_up_to("cylinder", self.cylinders - 1)?;
        let offset_ppm = row.number_up_to("offset_ppm", 999_999)?;
        let sectors = row.number("sectors")?;
        let cylinders = row.number_up_to("cylinders", self.cylinders)?;
        let skew_ppm = row.number_up_to("skew_ppm", 999_999)?;
        let run = row.number("run_sectors")?;
        let (run_cylinders, is_outwards) = row.signed("run_cylinders")?;
        let piece = self.piece(&mut row)?;
        row.end()?;
        if before != self.draft.sectors {
            return Err(row.wrong(
                "sectors_before",
                format!("{before}, but the rows before it cover {}", self.draft.sectors),
                "let each row begin where the one before ends",
            ));
        }
        let pieces = pieces(&row, sectors, cylinders, run, run_cylinders)?;
        let entry = Entry {
            before,
            run,
            sectors,
            cylinder,
            cylinders,
            pieces,
            is_outwards,
            offset_ppm,
            skew_ppm,
            piece,
        };
        self.check_cylinders(&row, &entry, run_cylinders)?;
        Ok(entry)
    }

    /// Checks that a run is on the disk.
    fn check_cylinders(
        &self,
        row: &Row<'_>,
        entry: &Entry,
        run_cylinders: u64,
    ) -> Result<(), MechanicsError> {
        let [first, piece, disk] = [entry.cylinder, entry.cylinders, self.cylinders].map(u64::from);
        let is_on_disk = if entry.is_outwards {
            run_cylinders - piece <= first && first + piece <= disk
        } else {
            run_cylinders <= disk - first
        };
        if is_on_disk {
            return Ok(());
        }
        Err(row.wrong(
            "run_cylinders",
            format!("the run leaves the disk, which has {disk} cylinders"),
            "correct the row, or `cylinders`",
        ))
    }

    fn piece(&self, row: &mut Row<'_>) -> Result<Piece, MechanicsError> {
        match row.word() {
            b"T" => {
                let kind = row.number("kind")?;
                let kind = index_below(row, "kind", kind, self.tree.kinds.len())?;
                let head = row.number_up_to("head", self.surfaces - 1)?;
                Ok(Piece::Track { kind, head })
            }
            b"N" => {
                let node = row.number("node")?;
                Ok(Piece::Node(index_below(row, "node", node, self.tree.nodes.len())?))
            }
            _ => Err(row.wrong(
                "T or N",
                "the row names neither tracks nor nodes",
                "write `T kind head` or `N node` after eight numbers",
            )),
        }
    }

    /// Returns the facts of the piece that an entry repeats.
    fn piece_of(&self, entry: &Entry) -> PieceFacts {
        match entry.piece {
            Piece::Track { kind, .. } => {
                let Kind { data, sectors_per_track, .. } = self.tree.kinds[kind as usize];
                PieceFacts { sectors: data.into(), cylinders: 1, sectors_per_track, depth: 0 }
            }
            Piece::Node(node) => {
                let node = &self.tree.nodes[node as usize];
                PieceFacts {
                    sectors: node.sectors,
                    cylinders: node.cylinders,
                    sectors_per_track: node.sectors_per_track,
                    depth: node.depth,
                }
            }
        }
    }

    /// Checks that an entry describes its piece correctly.
    fn check_piece(
        &mut self,
        row: &Row<'_>,
        entry: &mut Entry,
        piece: PieceFacts,
    ) -> Result<(), MechanicsError> {
        if piece.depth >= DEPTH_MAX {
            return Err(row.wrong("node", "too deep", format!("nest at most {DEPTH_MAX} nodes")));
        }
        let is_track = matches!(entry.piece, Piece::Track { .. });
        if entry.cylinders < piece.cylinders || (is_track && entry.cylinders > 1) {
            let message = format!("{} for a piece of {}", entry.cylinders, piece.cylinders);
            return Err(row.wrong("cylinders", message, format!("write {}", piece.cylinders)));
        }
        if entry.sectors > piece.sectors {
            let message = format!("{} sectors, but the piece has {}", entry.sectors, piece.sectors);
            let error = row.wrong("sectors", message, format!("write at most {}", piece.sectors));
            if entry.pieces > 1 {
                return Err(error);
            }
            self.surplus = Some(error);
            entry.run = entry.run.min(piece.sectors);
            entry.sectors = piece.sectors;
        }
        Ok(())
    }

    /// Ends the node being read.
    fn close(&mut self) -> Result<(), MechanicsError> {
        let draft = std::mem::take(&mut self.draft);
        let place = format!("index: node {}", self.tree.nodes.len());
        if draft.befores.is_empty() {
            return Err(wrong(place, "the node has no rows", "write `-` between nodes only"));
        }
        let first = self.tree.entries.len() - draft.befores.len();
        let by_place = by_place(&self.tree.entries[first..]).map_err(|cylinder| {
            let message = format!("two rows contain the same track of cylinder {cylinder}");
            wrong(place, message, "write each track in one row only")
        })?;
        self.tree.nodes.push(Node {
            befores: Table::new(&draft.befores),
            first,
            by_place,
            sectors: draft.sectors,
            cylinders: draft.cylinders,
            sectors_per_track: draft.sectors_per_track,
            depth: draft.depth + 1,
        });
        Ok(())
    }
}

/// The facts of a repeated track or node.
#[derive(Debug, Clone, Copy)]
struct PieceFacts {
    sectors: u64,
    cylinders: u32,
    sectors_per_track: u32,
    /// The nesting depth, including the piece itself.
    depth: u32,
}

/// Returns the number of pieces in a run.
fn pieces(
    row: &Row<'_>,
    sectors: u64,
    cylinders: u32,
    run: u64,
    run_cylinders: u64,
) -> Result<u32, MechanicsError> {
    if sectors == 0 || run == 0 || cylinders == 0 {
        return Err(row.wrong("sectors", "the run or its piece is empty", "write 1 or more"));
    }
    let pieces = run.div_ceil(sectors);
    if pieces.checked_mul(cylinders.into()) != Some(run_cylinders) {
        return Err(row.wrong(
            "run_cylinders",
            format!("{run_cylinders} cylinders for {pieces} pieces of {cylinders}"),
            "let each piece have its own cylinders",
        ));
    }
    // The caller checks that the number does not exceed a disk's cylinders.
    u32::try_from(pieces).map_err(|_| row.wrong("run_sectors", "the run is too long", "write less"))
}

fn index_below(
    row: &Row<'_>,
    field: &str,
    index: u64,
    count: usize,
) -> Result<u32, MechanicsError> {
    match u32::try_from(index) {
        Ok(index) if (index as usize) < count => Ok(index),
        _ => Err(row.wrong(
            field,
            format!("{index}, but only {count} precede this row"),
            "count from 0, and write a node before the rows that refer to it",
        )),
    }
}

/// Returns the indices of the entries, sorted by key and cylinder; fails with a cylinder in which
/// two entries share a track.
fn by_place(entries: &[Entry]) -> Result<Vec<u32>, u32> {
    let count = u32::try_from(entries.len()).expect("rows are limited");
    let at = |index: u32| &entries[index as usize];
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_unstable_by_key(|&index| (at(index).key(), at(index).low()));
    for pair in order.windows(2) {
        let (one, other) = (at(pair[0]), at(pair[1]));
        if one.key() == other.key() && other.low() <= one.high() {
            return Err(other.low());
        }
    }
    // Nodes come first in this order; they contain all heads of their cylinders.
    let (nodes, tracks) = order.split_at(order.partition_point(|&index| at(index).key() == 0));
    for track in tracks.iter().map(|&index| at(index)) {
        let after = nodes.partition_point(|&node| at(node).low() <= track.high());
        let before = after.checked_sub(1).map(|before| at(nodes[before]));
        if before.is_some_and(|node| node.high() >= track.low()) {
            return Err(track.low());
        }
    }
    Ok(order)
}
