// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `cfq`: a model of completely fair queueing as it was in Linux 2.6.21.
//!
//! Rule: each source has a queue by position, and queues take turns. A turn is a time slice; queues
//! of the real-time class come before all others. In its slice a queue sends while the drive has
//! room, but keeps at most 4 requests in flight while others wait. When the queue is empty, the
//! drive is kept for it until its requests are complete and for 8 ms more, or until the slice ends.
//!
//! ```text
//!            a source asks               empty, all complete
//!   no turn ---------------> slice: sends --------------------> idles up to 8 ms
//!      ^                       |    ^                               |   |
//!      |      slice used up    |    +------ it asks again ----------+   |
//!      +-----------------------+----------------------------------------+
//! ```
//!
//! A real-time request waits for the current slice and for the requests sent in it: the unpatched
//! behaviour that RTAS'08 reports. Slices have the kernel's default length: 100 ms, and a fifth
//! more or less for each step of priority. Hard and interactive tasks have the middle priority of
//! their class, soft ones the highest, best-effort loads the lowest.
//!
//! Not modelled: merging, think time and seek statistics that shorten idling, asynchronous writes,
//! the idle class, `fifo_expire`. A load is one source however many requests it keeps outstanding;
//! threads, each of which has a queue, are loads with one outstanding request each.
//!
//! Source: RTAS'08 section 4, dissertation 8.4, the kernel's documentation of CFQ.

use std::collections::{BTreeMap, VecDeque};

use tidegate_model::{Class, Duration, Request, RequestId, TaskIndex, Time};

use super::room::Room;
use super::sorted::Sorted;
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy, Tag};

/// The kernel's `slice_idle`: the longest time for which the drive is kept idle for a source.
const IDLE_MAX: Duration = Duration::from_ms(8);
/// The kernel's `quantum`: the largest number of requests of one source on the drive while others
/// wait.
const QUANTUM: u32 = 4;

/// The requests of one source.
#[derive(Debug)]
struct Queue {
    requests: Sorted,
    class: Class,
    in_flight_count: u32,
    /// Whether the source waits for a turn or has one.
    is_in_turn: bool,
}

/// The source that has the slice, and the slice's end.
#[derive(Debug, Clone, Copy)]
struct Turn {
    source: TaskIndex,
    until: Time,
    /// The instant until which the drive is kept idle for the source; `None` while the source has
    /// requests on the drive.
    idle_until: Option<Time>,
}

/// A model of Linux `cfq`; see the module documentation.
///
/// # Invariants
/// - A queue with requests waits for a turn or has one.
///
/// # Complexity
/// O(depth + log sources + log queued); O(sources + queued) for a cancellation.
#[derive(Debug)]
pub struct Cfq {
    queues: BTreeMap<TaskIndex, Queue>,
    /// The sources that wait for a turn: the real-time class, and all others.
    waiting: [VecDeque<TaskIndex>; 2],
    turn: Option<Turn>,
    room: Room,
    in_flight: InFlight,
    depth: u32,
}

impl Cfq {
    /// Returns a policy for a drive that accepts `depth` requests; it holds at most `queued_max`
    /// requests of each class.
    pub fn new(depth: u32, queued_max: u32) -> Self {
        Self {
            queues: BTreeMap::new(),
            waiting: Default::default(),
            turn: None,
            room: Room::new(queued_max),
            in_flight: InFlight::with_room(depth),
            depth,
        }
    }

    fn push(&mut self, request: Request) {
        let class = request.class;
        let new =
            || Queue { requests: Sorted::default(), class, in_flight_count: 0, is_in_turn: false };
        let queue = self.queues.entry(request.task).or_insert_with(new);
        queue.requests.push(request);
        if !std::mem::replace(&mut queue.is_in_turn, true) {
            self.waiting[class_index(queue.class)].push_back(request.task);
        }
    }

    fn complete(&mut self, now: Time, id: RequestId) {
        let source = self.in_flight.complete(id).task;
        let queue = self.queues.get_mut(&source).expect("it sent the request");
        queue.in_flight_count -= 1;
        let is_back = queue.in_flight_count == 0;
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.source == source && is_back) {
            // The drive does not idle past `Time::MAX`.
            turn.idle_until = Some(now.checked_add(IDLE_MAX).unwrap_or(now).min(turn.until));
        }
    }

    fn cancel(&mut self, id: RequestId) {
        // A source whose queue becomes empty is skipped when its turn comes.
        let cancelled = self.queues.values_mut().find_map(|queue| queue.requests.cancel(id));
        if let Some(request) = cancelled {
            self.room.leave(request.class);
        }
    }

    /// Gives the turn to the next waiting source and returns whether there is one.
    fn begin_turn(&mut self, now: Time) -> bool {
        while let Some(source) = self.waiting.iter_mut().find_map(VecDeque::pop_front) {
            let queue = self.queues.get_mut(&source).expect("it waits for a turn");
            if queue.requests.is_empty() {
                queue.is_in_turn = false;
                continue;
            }
            let until = now.checked_add(slice(queue.class)).unwrap_or(Time::MAX);
            self.turn = Some(Turn { source, until, idle_until: None });
            return true;
        }
        false
    }

    /// Ends the turn; a queue with requests waits for its next one.
    fn end_turn(&mut self, source: TaskIndex) {
        let queue = self.queues.get_mut(&source).expect("it had the turn");
        queue.is_in_turn = !queue.requests.is_empty();
        if queue.is_in_turn {
            self.waiting[class_index(queue.class)].push_back(source);
        }
        self.turn = None;
    }

    fn dispatch(&mut self, source: TaskIndex) -> Decision {
        let queue = self.queues.get_mut(&source).expect("it has the turn");
        let request = queue.requests.pop().expect("it has requests");
        queue.in_flight_count += 1;
        self.room.leave(request.class);
        self.in_flight.dispatch(request);
        Decision::Dispatch { id: request.id, tag: Tag::Simple }
    }
}

const fn class_index(class: Class) -> usize {
    match class {
        Class::Hard => 0,
        Class::Soft | Class::Interactive | Class::BestEffort => 1,
    }
}

/// Returns the slice: 100 ms, and 20 ms more or less for each step from the middle priority.
const fn slice(class: Class) -> Duration {
    match class {
        Class::Hard | Class::Interactive => Duration::from_ms(100),
        Class::Soft => Duration::from_ms(180),
        Class::BestEffort => Duration::from_ms(40),
    }
}

impl Policy for Cfq {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                self.room.enter(request.class)?;
                self.push(request);
            }
            Event::Complete { id, .. } => self.complete(now, id),
            Event::Cancel(id) => self.cancel(id),
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => {
                self.depth = plan.depth;
                self.room.set_queued_max(plan.queued_max);
            }
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        loop {
            if self.in_flight.len() >= self.depth {
                return Decision::AwaitEvent;
            }
            let Some(turn) = self.turn else {
                if self.begin_turn(now) {
                    continue;
                }
                return Decision::AwaitEvent;
            };
            let queue = &self.queues[&turn.source];
            let has_company = self.waiting.iter().any(|queue| !queue.is_empty());
            if turn.until <= now && (has_company || queue.requests.is_empty()) {
                self.end_turn(turn.source);
                continue;
            }
            if !queue.requests.is_empty() {
                if has_company && queue.in_flight_count >= QUANTUM {
                    return Decision::NotBefore(turn.until);
                }
                self.turn = Some(Turn { idle_until: None, ..turn });
                return self.dispatch(turn.source);
            }
            // The source's queue is empty: the drive is kept for this source while its requests are
            // on the drive, and 8 ms longer.
            match turn.idle_until {
                None if queue.in_flight_count > 0 && turn.until > now => {
                    return Decision::NotBefore(turn.until);
                }
                Some(idle_until) if idle_until > now => return Decision::NotBefore(idle_until),
                _ => self.end_turn(turn.source),
            }
        }
    }
}
