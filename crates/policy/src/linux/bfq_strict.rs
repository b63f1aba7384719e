// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `bfq-strict`: a model of Linux `bfq` with `strict_guarantees`.
//!
//! Rule: one request on the drive at a time. Each source has a queue in order of position. The
//! queue in service keeps the drive until it has used its budget of sectors or its 125 ms; while it
//! is empty, the drive idles up to 8 ms for its next request. Then the eligible queue with the
//! least virtual finish time follows, in the highest class with requests. A request of a higher
//! class ends the service of a lower one before its budget is used.
//!
//! ```text
//!   start S, finish F = S + budget / weight;  eligible: S <= V
//!   V grows by served / (sum of weights), and jumps to the least S when none is eligible
//! ```
//!
//! Hard tasks are in the kernel's class "real time". The others are in its class "best effort",
//! with the weights of its priorities: soft 80, interactive 40, best-effort loads 10.
//!
//! Not modelled: adaptive budgets, weight raising, queue merging, injection, burst detection,
//! control groups.
//!
//! Source: P. Valente and F. Checconi, "High Throughput Disk Scheduling with Fair Bandwidth
//! Distribution", IEEE Transactions on Computers, 2010 (B-WF2Q+); the kernel's documentation.

mod virtual_time;

use std::collections::BTreeMap;

use tidegate_model::{Class, Duration, Lba, Request, RequestId, TaskIndex, Time};

use super::room::Room;
use super::sorted::Sorted;
use crate::{Decision, Event, Full, Policy, Tag};

use virtual_time::{Tags, VirtualTime};

/// The kernel's `slice_idle`: the longest time for which the drive idles for a source's next
/// request.
const IDLE_MAX: Duration = Duration::from_ms(8);
/// The kernel's `timeout_sync`: the longest time for which one source keeps the drive.
const SERVICE_TIME_MAX: Duration = Duration::from_ms(125);
/// The largest budget, in sectors, which every queue has from the start.
const BUDGET: u64 = 16 * 1024;

/// The requests of one source.
#[derive(Debug)]
struct Queue {
    requests: Sorted,
    class: Class,
    tags: Tags,
}

/// The source in service, and the state of its service.
#[derive(Debug, Clone, Copy)]
struct Service {
    source: TaskIndex,
    until: Time,
    budget_left: u64,
    /// The number of sectors served in this service.
    served: u64,
    /// The instant until which the drive idles for the source's next request: set when one of its
    /// requests completes, cleared when one is sent.
    idle_until: Option<Time>,
}

/// A model of Linux `bfq` in its strict mode; see the module documentation.
///
/// # Invariants
/// - The weights of each `VirtualTime` are those of the queues that have requests or are in
///   service.
///
/// # Complexity
/// O(log queued) for a request, O(sources) for a change of service, O(sources + queued) for a
/// cancellation.
#[derive(Debug)]
pub struct BfqStrict {
    queues: BTreeMap<TaskIndex, Queue>,
    /// The clock of the real-time class, and the clock of all other classes.
    virtual_times: [VirtualTime; 2],
    /// The number of queued requests for each clock.
    queued: [u32; 2],
    service: Option<Service>,
    in_flight: Option<RequestId>,
    room: Room,
}

impl BfqStrict {
    /// Returns a policy that holds at most `queued_max` requests of each class.
    pub fn new(queued_max: u32) -> Self {
        Self {
            queues: BTreeMap::new(),
            virtual_times: Default::default(),
            queued: [0; 2],
            service: None,
            in_flight: None,
            room: Room::new(queued_max),
        }
    }

    fn push(&mut self, request: Request) {
        let class = request.class;
        let new = || Queue { requests: Sorted::default(), class, tags: Tags::default() };
        let queue = self.queues.entry(request.task).or_insert_with(new);
        let is_in_service = self.service.is_some_and(|service| service.source == request.task);
        if queue.requests.is_empty() && !is_in_service {
            let virtual_time = &mut self.virtual_times[tree(queue.class)];
            virtual_time.enter(&mut queue.tags, BUDGET, weight(queue.class));
        }
        queue.requests.push(request);
        self.queued[tree(queue.class)] += 1;
    }

    fn cancel(&mut self, id: RequestId) {
        let find = |(&source, queue): (&TaskIndex, &mut Queue)| {
            let request = queue.requests.cancel(id)?;
            Some((source, request, queue.class, queue.requests.is_empty()))
        };
        let Some((source, request, class, is_empty)) = self.queues.iter_mut().find_map(find) else {
            return;
        };
        self.room.leave(request.class);
        self.queued[tree(class)] -= 1;
        let is_in_service = self.service.is_some_and(|service| service.source == source);
        if is_empty && !is_in_service {
            self.virtual_times[tree(class)].leave(weight(class));
        }
    }

    /// Begins the service of the next queue and returns whether there is one.
    fn begin_service(&mut self, now: Time) -> bool {
        let Some(tree_served) = self.queued.iter().position(|&queued| queued > 0) else {
            return false;
        };
        let backlogged = self
            .queues
            .iter()
            .filter(|(_, queue)| tree(queue.class) == tree_served && !queue.requests.is_empty());
        let tags = backlogged.map(|(&source, queue)| (queue.tags, source));
        let source = self.virtual_times[tree_served].next(tags).expect("requests are queued");
        let until = now.checked_add(SERVICE_TIME_MAX).unwrap_or(Time::MAX);
        self.service =
            Some(Service { source, until, budget_left: BUDGET, served: 0, idle_until: None });
        true
    }

    /// Charges the served sectors; a queue with requests competes again.
    fn end_service(&mut self, Service { source, served, .. }: Service) {
        let queue = self.queues.get_mut(&source).expect("it was served");
        let virtual_time = &mut self.virtual_times[tree(queue.class)];
        let weight = weight(queue.class);
        queue.tags.charge(served, weight);
        virtual_time.leave(weight);
        if !queue.requests.is_empty() {
            virtual_time.enter(&mut queue.tags, BUDGET, weight);
        }
        self.service = None;
    }

    /// Sends the next request of the queue in service; `None` if the queue must yield.
    fn dispatch(&mut self, service: Service) -> Option<Decision> {
        let queue = self.queues.get_mut(&service.source).expect("it is in service");
        let next = queue.requests.peek().expect("it has requests");
        let sectors = next.size.get().div_ceil(Lba::SECTOR_BYTES);
        // A request larger than a whole budget is sent alone, because it would never fit.
        if sectors > service.budget_left && service.served > 0 {
            return None;
        }
        let request = queue.requests.pop().expect("`peek` saw it");
        let tree = tree(queue.class);
        self.queued[tree] -= 1;
        self.virtual_times[tree].serve(sectors);
        self.room.leave(request.class);
        self.in_flight = Some(request.id);
        self.service = Some(Service {
            budget_left: service.budget_left.saturating_sub(sectors), // a larger request was sent alone
            served: service.served + sectors,
            idle_until: None,
            ..service
        });
        Some(Decision::Dispatch { id: request.id, tag: Tag::Simple })
    }

    /// Returns whether a queue of a higher class than the one in service has requests.
    fn is_outranked(&self, source: TaskIndex) -> bool {
        let tree = tree(self.queues[&source].class);
        self.queued[..tree].iter().any(|&queued| queued > 0)
    }
}

/// Returns the index of a class's clock; classes are served in this order.
const fn tree(class: Class) -> usize {
    match class {
        Class::Hard => 0,
        Class::Soft | Class::Interactive | Class::BestEffort => 1,
    }
}

const fn weight(class: Class) -> u64 {
    match class {
        Class::Soft => 80,
        Class::Hard | Class::Interactive => 40,
        Class::BestEffort => 10,
    }
}

impl Policy for BfqStrict {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                self.room.enter(request.class)?;
                self.push(request);
            }
            Event::Complete { id, .. } => {
                assert_eq!(
                    self.in_flight.take(),
                    Some(id),
                    "the completed request was not in flight"
                );
                if let Some(service) = &mut self.service {
                    service.idle_until = now.checked_add(IDLE_MAX);
                }
            }
            Event::Cancel(id) => self.cancel(id),
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => self.room.set_queued_max(plan.queued_max),
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        if self.in_flight.is_some() {
            return Decision::AwaitEvent;
        }
        loop {
            let Some(service) = self.service else {
                if self.begin_service(now) {
                    continue;
                }
                return Decision::AwaitEvent;
            };
            let is_over = service.until <= now || self.is_outranked(service.source);
            let is_empty = self.queues[&service.source].requests.is_empty();
            if !is_over && !is_empty {
                if let Some(dispatch) = self.dispatch(service) {
                    return dispatch;
                }
            } else if !is_over
                && let Some(idle_until) = service.idle_until.filter(|&idle_until| idle_until > now)
            {
                return Decision::NotBefore(idle_until.min(service.until));
            }
            self.end_service(service);
        }
    }
}
