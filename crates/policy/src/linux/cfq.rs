// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `cfq`: a model of Linux's completely fair queueing of its time (2.6.21).
//!
//! Rule: each source has a queue by position, and queues take turns: a time slice each, those
//! of the real-time class before all others. In its slice a queue sends as long as the drive
//! has room, beside others that wait at most 4 requests at once. When it is empty the drive is
//! kept for it: until what it sent is back and 8 ms more, or the slice ends.
//!
//! ```text
//!            a source asks                   empty, all back
//!   no turn ---------------> slice: sends --------------------> idles up to 8 ms
//!      ^                       |    ^                               |   |
//!      |      slice used up    |    +------ it asks again ----------+   |
//!      +-----------------------+----------------------------------------+
//! ```
//!
//! A real-time request waits for the slice under way and for what was sent in it: the
//! unpatched behaviour that RTAS'08 found. Slices are those of the kernel's defaults: 100 ms
//! and a fifth more or less for each step of priority; hard and interactive tasks have the
//! middle priority of their class, soft ones the highest, best-effort loads the lowest.
//!
//! Not modelled: merging, think time and seek statistics that shorten idling, asynchronous
//! writes, the idle class, `fifo_expire`. A load is one source however many requests it keeps
//! outstanding; threads, of which each is a queue, are loads with one outstanding each.
//!
//! Source: RTAS'08 section 4, dissertation 8.4, the kernel's documentation of CFQ.

use std::collections::{BTreeMap, VecDeque};

use tidegate_model::{Class, Duration, Request, RequestId, TaskIndex, Time};

use super::room::Room;
use super::sorted::Sorted;
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy, Tag};

/// `slice_idle`.
const IDLE_MAX: Duration = Duration::from_ms(8);
/// `quantum`.
const QUANTUM: u32 = 4;

/// One source's requests.
#[derive(Debug)]
struct Queue {
    requests: Sorted,
    class: Class,
    in_flight_count: u32,
    /// Whether it stands in a line for its turn, or has it.
    is_in_turn: bool,
}

/// Whose slice it is.
#[derive(Debug, Clone, Copy)]
struct Turn {
    source: TaskIndex,
    until: Time,
    /// Until when the drive is kept for it; none while it has something on the drive.
    idle_until: Option<Time>,
}

/// A model of Linux `cfq`; see the module's text.
///
/// # Invariants
/// - A queue that is not empty is in a line or has the turn.
///
/// # Complexity
/// O(log sources + log queued).
#[derive(Debug)]
pub struct Cfq {
    queues: BTreeMap<TaskIndex, Queue>,
    /// Who waits for a turn: the real-time class, all others.
    lines: [VecDeque<TaskIndex>; 2],
    turn: Option<Turn>,
    room: Room,
    in_flight: InFlight,
    depth: u32,
}

impl Cfq {
    /// A policy for a drive that accepts `depth` requests, holding at most `queued_max` of
    /// each class.
    pub fn new(depth: u32, queued_max: u32) -> Self {
        Self {
            queues: BTreeMap::new(),
            lines: Default::default(),
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
            self.lines[line(queue.class)].push_back(request.task);
        }
    }

    fn complete(&mut self, now: Time, id: RequestId) {
        let source = self.in_flight.complete(id).task;
        let queue = self.queues.get_mut(&source).expect("it sent the request");
        queue.in_flight_count -= 1;
        let is_back = queue.in_flight_count == 0;
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.source == source && is_back) {
            // Beyond the end of time it idles no more.
            turn.idle_until = Some(now.checked_add(IDLE_MAX).unwrap_or(now).min(turn.until));
        }
    }

    fn cancel(&mut self, id: RequestId) {
        // What it leaves empty in a line is passed over when its turn comes.
        let cancelled = self.queues.values_mut().find_map(|queue| queue.requests.cancel(id));
        if let Some(request) = cancelled {
            self.room.leave(request.class);
        }
    }

    /// Gives the turn to the next in line; whether there is one.
    fn begin_turn(&mut self, now: Time) -> bool {
        while let Some(source) = self.lines.iter_mut().find_map(VecDeque::pop_front) {
            let queue = self.queues.get_mut(&source).expect("it stands in a line");
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

    /// Takes the turn away; a queue with requests waits for its next one.
    fn end_turn(&mut self, source: TaskIndex) {
        let queue = self.queues.get_mut(&source).expect("it had the turn");
        queue.is_in_turn = !queue.requests.is_empty();
        if queue.is_in_turn {
            self.lines[line(queue.class)].push_back(source);
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

const fn line(class: Class) -> usize {
    match class {
        Class::Hard => 0,
        Class::Soft | Class::Interactive | Class::BestEffort => 1,
    }
}

/// 100 ms, and 20 ms more or less for each step from the middle priority.
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
            let has_company = self.lines.iter().any(|line| !line.is_empty());
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
            // Empty: kept for it while its requests are on the drive, and a little longer.
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
