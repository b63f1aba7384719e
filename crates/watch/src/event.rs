// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The events of the block layer that a watch needs, as the kernel's tracepoints report them.

use tidegate_model::{Bytes, Lba, Op, Time};

/// The effect of a request on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Data comes from the device.
    Read,
    /// Data goes to the device.
    Write,
    /// The host no longer needs the data.
    Discard,
    /// A program requests that its data be on the medium; the request has no data of its own.
    Sync,
    /// The kernel's own command to empty the write cache.
    Flush,
    /// The device writes zeroes without data from the host, or resets a zone.
    Zero,
    /// Everything else: passthrough commands, which bypass the scheduler, and other zone commands.
    Other,
}

impl Operation {
    /// Parses the kernel's letters (`rwbs`): an `F` if a flush comes first, then the operation,
    /// then flags.
    ///
    /// # Source
    /// `blk_fill_rwbs` in `kernel/trace/blktrace.c` of Linux 6.1 and 6.12.
    pub fn of_letters(letters: &str, sectors: u64) -> Self {
        let operation = match letters.as_bytes() {
            [b'F', next @ (b'R' | b'W' | b'D' | b'F' | b'N'), ..] => next,
            [first, ..] => first,
            [] => &b'N',
        };
        match (operation, sectors) {
            // When the kernel completes a request without data, it omits the letter of the flush.
            (b'W', 0) => Self::Sync,
            (b'R', _) => Self::Read,
            (b'W', _) => Self::Write,
            (b'D', _) => Self::Discard,
            (b'F', _) => Self::Flush,
            (b'N', 1..) => Self::Zero,
            _ => Self::Other,
        }
    }

    /// Returns whether these letters require the data to be on the medium before the completion
    /// (FUA): an `F` directly after the operation.
    ///
    /// # Source
    /// The same as [`Self::of_letters`].
    pub fn is_forced(letters: &str) -> bool {
        matches!(letters.as_bytes(), [b'W', b'F', ..] | [b'F', b'W', b'F', ..])
    }

    /// Returns the operation's name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Discard => "discard",
            Self::Sync => "sync",
            Self::Flush => "flush",
            Self::Zero => "zero",
            Self::Other => "other",
        }
    }

    /// Returns the operation of a request that moves data; `None` for any other.
    pub const fn moves_data(self) -> Option<Op> {
        match self {
            Self::Read => Some(Op::Read),
            Self::Write => Some(Op::Write),
            Self::Discard | Self::Sync | Self::Flush | Self::Zero | Self::Other => None,
        }
    }
}

/// A range of sectors that an operation concerns. It can be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The operation.
    pub op: Operation,
    /// The first sector.
    pub start: Lba,
    /// The number of sectors.
    pub sectors: u64,
}

impl Extent {
    /// Returns the sector after the last one.
    pub fn end(self) -> u64 {
        // The kernel gives commands without a place the largest sector number, so the sum must
        // saturate.
        self.start.get().saturating_add(self.sectors)
    }

    /// Returns the extent's length in bytes.
    ///
    /// # Panics
    /// At 2^64 bytes or more. No event of the kernel describes that much, because it counts sectors
    /// in 32 bits.
    pub fn bytes(self) -> Bytes {
        Bytes::new(self.sectors.checked_mul(Lba::SECTOR_BYTES).expect("sectors of 32 bits"))
    }
}

/// The thread that was running when an event happened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Submitter {
    /// The thread's number.
    pub thread: u32,
    /// The thread's name, at most 15 characters.
    pub name: String,
}

/// The I/O class of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoClass {
    /// The highest class.
    RealTime,
    /// The default class.
    BestEffort,
    /// The lowest class.
    Idle,
}

impl IoClass {
    /// Converts the kernel's priority number. A request without a class is served as best effort.
    pub const fn of_priority(priority: u16) -> Self {
        match priority >> 13 {
            1 => Self::RealTime,
            3 => Self::Idle,
            _ => Self::BestEffort,
        }
    }

    /// Returns the name that `ionice` uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RealTime => "realtime",
            Self::BestEffort => "best-effort",
            Self::Idle => "idle",
        }
    }
}

/// An event of the block layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The time of the event on the kernel's monotonic clock.
    pub at: Time,
    /// The event.
    pub kind: EventKind,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A program handed a piece of I/O (a bio) to the block layer (`block_bio_queue`).
    Queued {
        /// The bio's sectors.
        extent: Extent,
        /// The thread that submitted the bio.
        by: Submitter,
        /// Whether the bio's data must be on the medium before it completes (FUA).
        is_forced: bool,
    },
    /// A request was sent to the device (`block_rq_issue`), with or without an I/O scheduler.
    Issued {
        /// The request's sectors: those of one bio, of several merged bios, or of a part of one.
        extent: Extent,
        /// The request's class; `None` if the kernel's tracepoint does not report it.
        class: Option<IoClass>,
        /// Whether the device itself puts the data on the medium (FUA). If a bio needs that and its
        /// request does not have it, the kernel empties the write cache afterwards.
        is_forced: bool,
    },
    /// The device refused a request for now, so the kernel took it back (`block_rq_requeue`).
    Requeued {
        /// The request's sectors.
        extent: Extent,
    },
    /// The device completed a request, or a part of it (`block_rq_complete`).
    Completed {
        /// The completed sectors.
        extent: Extent,
        /// Whether the request failed.
        is_failed: bool,
    },
    /// A bio, or a part of one, ended without a request (`block_bio_complete`). Either the kernel
    /// had no free request and the program did not want to wait, or the kernel refused the bio.
    Ended {
        /// The sectors that ended.
        extent: Extent,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters come from the traces in `tests/fixtures` and from `blk_fill_rwbs`.
    #[test]
    fn letters_name_the_operation() {
        for (letters, sectors, operation) in [
            ("R", 8, Operation::Read),
            ("RA", 8, Operation::Read),
            ("RSM", 8, Operation::Read),
            ("WS", 8, Operation::Write),
            ("FWFS", 8, Operation::Write),
            ("WFS", 8, Operation::Write),
            ("FWS", 0, Operation::Sync),
            ("WS", 0, Operation::Sync),
            ("FF", 0, Operation::Flush),
            ("F", 0, Operation::Flush),
            ("DS", 8, Operation::Discard),
            ("DE", 8, Operation::Discard),
            ("N", 8, Operation::Zero),
            ("N", 0, Operation::Other),
            ("", 0, Operation::Other),
        ] {
            assert_eq!(Operation::of_letters(letters, sectors), operation, "{letters} {sectors}");
        }
    }

    #[test]
    fn a_forced_write_has_its_letter_behind_the_operation() {
        for (letters, expected) in [
            ("FWFS", true),
            ("WFS", true),
            ("WF", true),
            ("WS", false),
            ("FWS", false),
            ("FF", false),
            ("R", false),
        ] {
            assert_eq!(Operation::is_forced(letters), expected, "{letters}");
        }
    }

    #[test]
    fn classes_have_the_numbers_of_the_kernel() {
        use IoClass::{BestEffort, Idle, RealTime};
        let classes = [0x2004, 0x4004, 0x6000, 0, 4].map(IoClass::of_priority);
        assert_eq!(classes, [RealTime, BestEffort, Idle, BestEffort, BestEffort]);
    }
}
