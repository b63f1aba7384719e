// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The units of all tasks: where each stands, and what the gate must know of all of them.
//!
//! A task whose jobs have e requests is e units. Those of one job are released together and
//! stay together; a token regulator that hands tokens back one by one makes them tasks of
//! their own. Nothing is scanned: each figure that the gate asks for is the root of a tree.

use std::ops::Range;

use tidegate_model::{Duration, Plan, Request, RequestId, Time};

use crate::tournament::Tournament;

/// The place of a unit among those of all tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit(u32);

/// Where a unit stands.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Idle,
    Waiting(Request),
    InFlight,
}

#[derive(Debug, Clone)]
struct State {
    deadline: Duration,
    period: Duration,
    /// Its last release + its period, the start of time before the first.
    next_release: Time,
    stage: Stage,
}

impl State {
    /// The earliest due of its next job, unless it is released late. Beyond the end of time
    /// is never.
    fn next_due_ns(&self) -> u64 {
        self.next_release.checked_add(self.deadline).unwrap_or(Time::MAX).ns()
    }
}

/// All units; see the module's text.
///
/// # Invariants
/// - A unit in flight has a key in the two trees of that name, one that waits in the one of
///   that name; an idle one is in the two of cooling units until time passes its
///   `next_release`, then in that of ready ones.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    states: Vec<State>,
    /// By task.
    of_task: Vec<Range<u32>>,
    in_flight_by_due: Tournament,
    in_flight_by_next_due: Tournament,
    waiting_by_due: Tournament,
    cooling_by_release: Tournament,
    cooling_by_next_due: Tournament,
    ready_by_deadline: Tournament,
    waiting_count: u32,
    in_flight_count: u32,
}

impl Units {
    /// The units of the plan's tasks, all ready to be released.
    pub(crate) fn of(plan: &Plan) -> Self {
        let (mut states, mut of_task, mut end) = (Vec::new(), Vec::new(), 0_u32);
        for task in &plan.tasks {
            let start = end;
            // More than the drive accepts at once are never proven, and never on it together.
            let requests = task.requests.min(plan.depth);
            end = end.checked_add(requests).expect("fewer units than 2^32");
            let state = State {
                deadline: task.deadline,
                period: task.period,
                next_release: Time::ZERO,
                stage: Stage::Idle,
            };
            states.extend(std::iter::repeat_n(state, requests as usize));
            of_task.push(start..end);
        }
        let tree = Tournament::with_places(end);
        let mut units = Self {
            states,
            of_task,
            in_flight_by_due: tree.clone(),
            in_flight_by_next_due: tree.clone(),
            waiting_by_due: tree.clone(),
            cooling_by_release: tree.clone(),
            cooling_by_next_due: tree.clone(),
            ready_by_deadline: tree,
            waiting_count: 0,
            in_flight_count: 0,
        };
        for place in 0..end {
            units.idle_at(place);
        }
        units
    }

    /// n.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.states.len()).expect("fewer units than 2^32")
    }

    pub(crate) const fn waiting_count(&self) -> u32 {
        self.waiting_count
    }

    pub(crate) const fn in_flight_count(&self) -> u32 {
        self.in_flight_count
    }

    /// A unit of the request's task waits with it from now on; false where none is idle.
    pub(crate) fn admit(&mut self, request: &Request) -> bool {
        let Some((place, due)) = self.take_idle(request) else { return false };
        self.states[place as usize].stage = Stage::Waiting(*request);
        self.waiting_by_due.set(place, Some(due.ns()));
        self.waiting_count += 1;
        true
    }

    /// The same for a request that is on the drive already.
    pub(crate) fn admit_in_flight(&mut self, request: &Request) -> Option<Unit> {
        let (place, due) = self.take_idle(request)?;
        self.fly(place, due.ns());
        Some(Unit(place))
    }

    /// Sends the waiting unit that is due first.
    ///
    /// # Panics
    /// When none waits.
    pub(crate) fn send_first(&mut self) -> (Unit, Request) {
        let (due_ns, place) = self.waiting_by_due.least().expect("a unit that waits");
        let Stage::Waiting(request) = self.states[place as usize].stage else {
            panic!("a unit in the tree of those that wait")
        };
        self.waiting_by_due.set(place, None);
        self.waiting_count -= 1;
        self.fly(place, due_ns);
        (Unit(place), request)
    }

    /// The request of this unit came back.
    pub(crate) fn idle(&mut self, Unit(place): Unit) {
        self.in_flight_by_due.set(place, None);
        self.in_flight_by_next_due.set(place, None);
        self.in_flight_count -= 1;
        self.idle_at(place);
    }

    /// The request that waited under this name, if any. O(n).
    pub(crate) fn cancel(&mut self, id: RequestId) -> Option<Request> {
        let (place, request) = self.waiting_places().find(|(_, request)| request.id == id)?;
        self.waiting_by_due.set(place, None);
        self.waiting_count -= 1;
        self.idle_at(place);
        Some(request)
    }

    /// What waits, in no order. O(n).
    pub(crate) fn waiting(&self) -> impl Iterator<Item = Request> {
        self.waiting_places().map(|(_, request)| request)
    }

    fn waiting_places(&self) -> impl Iterator<Item = (u32, Request)> {
        (0_u32..).zip(&self.states).filter_map(|(place, state)| match state.stage {
            Stage::Waiting(request) => Some((place, request)),
            Stage::Idle | Stage::InFlight => None,
        })
    }

    /// Units whose next release may be now are ready. O(log n) each, once for each job.
    pub(crate) fn pass_time(&mut self, now: Time) {
        while let Some((release_ns, place)) = self.cooling_by_release.least()
            && release_ns <= now.ns()
        {
            let deadline_ns = self.states[place as usize].deadline.ns();
            self.cooling_by_release.set(place, None);
            self.cooling_by_next_due.set(place, None);
            self.ready_by_deadline.set(place, Some(deadline_ns));
        }
    }

    /// The earliest due of those on the drive, in ns.
    pub(crate) fn due_in_flight(&self) -> Option<u64> {
        self.in_flight_by_due.least().map(|(due, _)| due)
    }

    /// The earliest due that the next jobs of those on the drive can have, in ns.
    pub(crate) fn due_after_flight(&self) -> Option<u64> {
        self.in_flight_by_next_due.least().map(|(due, _)| due)
    }

    /// The earliest due of those that wait, in ns.
    pub(crate) fn due_waiting(&self) -> Option<u64> {
        self.waiting_by_due.least().map(|(due, _)| due)
    }

    /// The second of them.
    pub(crate) fn due_waiting_second(&mut self) -> Option<u64> {
        let (due, place) = self.waiting_by_due.least()?;
        self.waiting_by_due.set(place, None);
        let second = self.due_waiting();
        self.waiting_by_due.set(place, Some(due));
        second
    }

    /// All of them, the earliest first, in ns. O(n log n).
    pub(crate) fn dues_waiting(&self) -> Vec<u64> {
        let mut dues: Vec<u64> =
            self.waiting_places().map(|(place, request)| self.due(place, &request).ns()).collect();
        dues.sort_unstable();
        dues
    }

    /// The earliest due that one can have that may not be released yet, in ns.
    pub(crate) fn due_if_released_next(&self) -> Option<u64> {
        self.cooling_by_next_due.least().map(|(due, _)| due)
    }

    /// The shortest relative deadline of those that may be released now, in ns.
    pub(crate) fn deadline_if_released_now(&self) -> Option<u64> {
        self.ready_by_deadline.least().map(|(deadline, _)| deadline)
    }

    /// The idle unit of the request's task that may be released first, and the due that it
    /// then has. O(e).
    fn take_idle(&mut self, request: &Request) -> Option<(u32, Time)> {
        let places = self.of_task.get(request.task.index())?.clone();
        let is_idle = |&place: &u32| matches!(self.states[place as usize].stage, Stage::Idle);
        let place = places
            .filter(is_idle)
            .min_by_key(|&place| (self.states[place as usize].next_release, place))?;
        let due = self.due(place, request);
        let state = &mut self.states[place as usize];
        state.next_release = request.eligible.checked_add(state.period).unwrap_or(Time::MAX);
        self.cooling_by_release.set(place, None);
        self.cooling_by_next_due.set(place, None);
        self.ready_by_deadline.set(place, None);
        Some((place, due))
    }

    /// The absolute deadline of a request, counted from when it became eligible: what a
    /// regulator held back is late already, and must not close the gate for others.
    fn due(&self, place: u32, request: &Request) -> Time {
        let is_held_back = request.eligible > request.released;
        let own = request.due.filter(|_| !is_held_back);
        let deadline = self.states[place as usize].deadline;
        own.unwrap_or_else(|| request.eligible.checked_add(deadline).unwrap_or(Time::MAX))
    }

    fn fly(&mut self, place: u32, due_ns: u64) {
        let state = &mut self.states[place as usize];
        state.stage = Stage::InFlight;
        let next_due_ns = state.next_due_ns();
        self.in_flight_by_due.set(place, Some(due_ns));
        self.in_flight_by_next_due.set(place, Some(next_due_ns));
        self.in_flight_count += 1;
    }

    fn idle_at(&mut self, place: u32) {
        let state = &mut self.states[place as usize];
        state.stage = Stage::Idle;
        let (release_ns, next_due_ns) = (state.next_release.ns(), state.next_due_ns());
        self.cooling_by_release.set(place, Some(release_ns));
        self.cooling_by_next_due.set(place, Some(next_due_ns));
    }
}
