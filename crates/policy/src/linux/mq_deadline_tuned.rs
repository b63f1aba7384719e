// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `mq-deadline-tuned`: the kernel's `mq-deadline` with settings chosen for a proof.
//!
//! Rule: as [`super::mq_deadline`], with these differences. All tasks are in the class "real time"
//! and all loads in a lower one. The device's queue is limited to the plan's depth. At most
//! `nr_requests` requests have a tag of the scheduler; a request without a tag waits in the order
//! of arrival outside the scheduler, whatever its class. While the device is full, the kernel may
//! already have taken up to `taken_early` requests from the scheduler; these go first.
//!
//! ```text
//!   no tag left        scheduler           taken early      device
//!   [outside: FIFO] -> [classes, sorted] -> [FIFO, <= h] -> [<= q]
//!                      \______ tags: <= nr_requests, until completion ______/
//! ```
//!
//! Bound: `tidegate_analysis::strict_classes`.
//!
//! Source: `block/mq-deadline.c`, `block/blk-mq-sched.c` and `block/blk-mq.c` of Linux 6.1 and
//! 6.12.

use std::collections::VecDeque;

use tidegate_model::parameters::MqDeadlineParameters;
use tidegate_model::{Class, Plan, Request, RequestId, Time};

use super::filling::Order;
use super::mq_deadline::ByClass;
use super::room::Room;
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy, Tag};

/// Linux `mq-deadline` with chosen settings; see the module documentation.
///
/// # Invariants
/// - `tags_used` counts the requests in `classes`, `taken` and `in_flight`.
/// - `outside` is empty unless `tags_used >= tags_max`.
#[derive(Debug)]
pub struct MqDeadlineTuned {
    outside: VecDeque<Request>,
    classes: ByClass,
    taken: VecDeque<Request>,
    in_flight: InFlight,
    room: Room,
    tags_used: u64,
    tags_max: u64,
    taken_max: usize,
    depth: u32,
}

impl MqDeadlineTuned {
    /// Returns a policy for the plan's depth and its settings of the scheduler.
    pub fn new(plan: &Plan) -> Self {
        let settings = plan.parameters.mq_deadline_tuned;
        Self {
            outside: VecDeque::new(),
            classes: ByClass::new(settings.prio_aging_expire, priority),
            taken: VecDeque::new(),
            in_flight: InFlight::with_room(plan.best_effort_depth),
            room: Room::new(plan.queued_max),
            tags_used: 0,
            tags_max: tags_max(&settings),
            taken_max: settings.taken_early as usize,
            depth: plan.best_effort_depth,
        }
    }

    /// Returns a policy with the order of Linux 6.1 inside a class: when it takes a request, it
    /// remembers the next one, and so passes over a request that arrives between the two
    /// afterwards. Linux 6.12 and [`Self::new`] look the next one up.
    pub fn of_linux_6_1(plan: &Plan) -> Self {
        let aging_expire = plan.parameters.mq_deadline_tuned.prio_aging_expire;
        Self { classes: ByClass::remembering(aging_expire, priority), ..Self::new(plan) }
    }

    /// Decides by this plan from now on. With fewer tags than are used, requests keep theirs, and
    /// no other one gets a tag until enough of them are complete.
    fn reconfigure(&mut self, now: Time, plan: &Plan) {
        let settings = plan.parameters.mq_deadline_tuned;
        self.classes.set_aging_expire(settings.prio_aging_expire);
        self.tags_max = tags_max(&settings);
        self.taken_max = settings.taken_early as usize;
        self.depth = plan.best_effort_depth;
        self.room.set_queued_max(plan.queued_max);
        self.give_tags(now);
    }

    /// Gives tags to the requests that wait for one, the oldest first.
    fn give_tags(&mut self, now: Time) {
        while self.tags_used < self.tags_max {
            let Some(request) = self.outside.pop_front() else { return };
            self.tags_used += 1;
            self.classes.push(now, request);
        }
    }

    /// Removes a request that is not on the device.
    fn cancel(&mut self, now: Time, id: RequestId) {
        if let Some(place) = self.outside.iter().position(|request| request.id == id) {
            self.room.leave(self.outside[place].class);
            self.outside.remove(place);
            return;
        }
        let taken = self.taken.iter().position(|request| request.id == id);
        let request = match taken {
            Some(place) => self.taken.remove(place),
            None => self.classes.cancel(id),
        };
        if let Some(request) = request {
            self.room.leave(request.class);
            self.tags_used -= 1;
            self.give_tags(now);
        }
    }

    /// Takes the next request from the scheduler.
    fn take(&mut self, now: Time) -> Option<Request> {
        let Self { classes, in_flight, taken, .. } = self;
        classes.pop_beside(now, || in_flight.iter().chain(&*taken))
    }

    /// Takes requests from the scheduler although the device is full.
    fn take_early(&mut self, now: Time) {
        while self.taken.len() < self.taken_max {
            let Some(request) = self.take(now) else { return };
            self.taken.push_back(request);
        }
    }
}

impl Policy for MqDeadlineTuned {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                self.room.enter(request.class)?;
                self.outside.push_back(request);
                self.give_tags(now);
            }
            Event::Complete { id, .. } => {
                self.in_flight.complete(id);
                self.tags_used -= 1;
                self.give_tags(now);
            }
            Event::Cancel(id) => self.cancel(now, id),
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => self.reconfigure(now, &plan),
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        if self.in_flight.len() >= self.depth {
            self.take_early(now);
            return Decision::AwaitEvent;
        }
        let next = self.taken.pop_front().or_else(|| self.take(now));
        let Some(request) = next else { return Decision::AwaitEvent };
        self.room.leave(request.class);
        self.in_flight.dispatch(request);
        Decision::Dispatch { id: request.id, tag: Tag::Simple }
    }
}

/// Returns the number of requests that can have a tag of the scheduler.
fn tags_max(settings: &MqDeadlineParameters) -> u64 {
    settings.nr_requests.map_or(u64::MAX, |tags| u64::from(tags.get()))
}

const fn priority(class: Class) -> usize {
    match class {
        Class::Hard | Class::Soft | Class::Interactive => 0,
        Class::BestEffort => 1,
    }
}
