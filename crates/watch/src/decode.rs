// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Decodes records of the trace buffer into events.

use tidegate_model::Lba;

use crate::event::{Event, EventKind, Extent, IoClass, Operation, Submitter};
use crate::format::{BadFormat, EventFormat, Field};
use crate::ring_page::Record;

/// The tracepoints that a watch needs, in the order of [`Formats::new`].
pub(crate) const EVENTS: [&str; 5] = [
    "block_bio_queue",
    "block_rq_issue",
    "block_rq_requeue",
    "block_rq_complete",
    "block_bio_complete",
];

/// The fields that describe the sectors of an event.
#[derive(Debug, Clone, Copy)]
struct Place {
    sector: Field,
    sectors: Field,
    letters: Field,
}

/// The formats of the tracepoints.
#[derive(Debug, Clone)]
pub struct Formats {
    ids: [u16; 5],
    kind: Field,
    places: [Place; 5],
    thread: Field,
    name: Field,
    /// The class of a sent request; only from Linux 6.10 on.
    priority: Option<Field>,
    error: Field,
}

impl Formats {
    /// Reads the format files of `block_bio_queue`, `block_rq_issue`, `block_rq_requeue`,
    /// `block_rq_complete` and `block_bio_complete`.
    ///
    /// # Errors
    /// The first missing field.
    pub fn new(texts: [&str; 5]) -> Result<Self, BadFormat> {
        let [queue, issue, requeue, complete, end] = texts.map(EventFormat::parse);
        let formats = [queue?, issue?, requeue?, complete?, end?];
        let place = |format: &EventFormat| {
            Ok(Place {
                sector: format.field("sector")?,
                sectors: format.field("nr_sector")?,
                letters: format.field("rwbs")?,
            })
        };
        let [queue, issue, requeue, complete, end] = &formats;
        Ok(Self {
            ids: [queue.id, issue.id, requeue.id, complete.id, end.id],
            kind: queue.field("common_type")?,
            places: [place(queue)?, place(issue)?, place(requeue)?, place(complete)?, place(end)?],
            thread: queue.field("common_pid")?,
            name: queue.field("comm")?,
            priority: issue.optional("ioprio"),
            error: complete.field("error")?,
        })
    }

    /// Returns whether the kernel reports the class of each request.
    pub const fn tell_class(&self) -> bool {
        self.priority.is_some()
    }

    /// Returns the event of a record; `None` for a record of another kind.
    pub fn event(&self, record: Record<'_>) -> Option<Event> {
        let Record { at, data } = record;
        let id = self.kind.number(data);
        let index = self.ids.iter().position(|&known| u64::from(known) == id)?;
        let (extent, is_forced) = self.places[index].extent(data);
        let kind = match index {
            0 => EventKind::Queued { extent, by: self.submitter(data), is_forced },
            1 => EventKind::Issued { extent, class: self.class(data), is_forced },
            2 => EventKind::Requeued { extent },
            3 => EventKind::Completed { extent, is_failed: self.error.number(data) != 0 },
            _ => EventKind::Ended { extent },
        };
        Some(Event { at, kind })
    }

    fn submitter(&self, data: &[u8]) -> Submitter {
        let thread = u32::try_from(self.thread.number(data)).unwrap_or(0);
        Submitter { thread, name: self.name.text(data) }
    }

    fn class(&self, data: &[u8]) -> Option<IoClass> {
        let priority = u16::try_from(self.priority?.number(data)).ok()?;
        Some(IoClass::of_priority(priority))
    }
}

impl Place {
    /// Returns the extent, and whether its data must be on the medium (FUA).
    fn extent(self, data: &[u8]) -> (Extent, bool) {
        let (sectors, letters) = (self.sectors.number(data), self.letters.text(data));
        let op = Operation::of_letters(&letters, sectors);
        let start = Lba::new(self.sector.number(data));
        (Extent { op, start, sectors }, Operation::is_forced(&letters))
    }
}
