// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The units of all tasks: each unit's stage, and the figures that the gate needs.
//!
//! A task whose jobs have e requests counts as e units. The units of one job are released together
//! and stay together, unless a token regulator returns tokens one by one: they then behave like
//! separate tasks. Nothing is scanned: each figure that the gate needs is the root of a tree.

use std::ops::Range;

use tidegate_model::{Duration, Plan, Request, RequestId, Time};

use crate::tournament::Tournament;

/// The index of a unit among the units of all tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit(u32);

/// The stage of a unit.
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
    /// The unit's last release + its period; [`Time::ZERO`] before the first release.
    next_release: Time,
    stage: Stage,
}

impl State {
    /// Returns the absolute deadline of the unit's next job if that is released as early as
    /// allowed; at most `Time::MAX`.
    fn next_due_ns(&self) -> u64 {
        self.next_release.checked_add(self.deadline).unwrap_or(Time::MAX).ns()
    }
}

/// All units; see the module documentation.
///
/// # Invariants
/// - A unit in flight has a key in both in-flight trees, a waiting unit in the waiting tree. An
///   idle unit has one in both cooling trees until time passes its `next_release`, then in the
///   ready tree.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    states: Vec<State>,
    /// The range of each task's units, by task index.
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
    /// Returns the units of the plan's tasks, all ready to be released.
    pub(crate) fn of(plan: &Plan) -> Self {
        let (mut states, mut of_task, mut end) = (Vec::new(), Vec::new(), 0_u32);
        for task in &plan.tasks {
            let start = end;
            // A job with more requests than the drive accepts is never proven, and never on the
            // drive as a whole.
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

    /// Returns n: the number of units.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.states.len()).expect("fewer units than 2^32")
    }

    pub(crate) const fn waiting_count(&self) -> u32 {
        self.waiting_count
    }

    pub(crate) const fn in_flight_count(&self) -> u32 {
        self.in_flight_count
    }

    /// Assigns the request to an idle unit of its task, which then waits; `false` if none is idle.
    pub(crate) fn admit(&mut self, request: &Request) -> bool {
        let Some((place, due)) = self.take_idle(request) else { return false };
        self.states[place as usize].stage = Stage::Waiting(*request);
        self.waiting_by_due.set(place, Some(due.ns()));
        self.waiting_count += 1;
        true
    }

    /// Like [`Self::admit`], for a request that is already on the drive.
    pub(crate) fn admit_in_flight(&mut self, request: &Request) -> Option<Unit> {
        let (place, due) = self.take_idle(request)?;
        self.fly(place, due.ns());
        Some(Unit(place))
    }

    /// Sends the waiting unit that is due first.
    ///
    /// # Panics
    /// If no unit waits.
    pub(crate) fn send_first(&mut self) -> (Unit, Request) {
        let (due_ns, place) = self.waiting_by_due.least().expect("a unit waits");
        let Stage::Waiting(request) = self.states[place as usize].stage else {
            panic!("the waiting tree holds waiting units")
        };
        self.waiting_by_due.set(place, None);
        self.waiting_count -= 1;
        self.fly(place, due_ns);
        (Unit(place), request)
    }

    /// Records that the request of this unit completed.
    pub(crate) fn idle(&mut self, Unit(place): Unit) {
        self.in_flight_by_due.set(place, None);
        self.in_flight_by_next_due.set(place, None);
        self.in_flight_count -= 1;
        self.idle_at(place);
    }

    /// Removes and returns the waiting request with this id, if any. O(n).
    pub(crate) fn cancel(&mut self, id: RequestId) -> Option<Request> {
        let (place, request) = self.waiting_places().find(|(_, request)| request.id == id)?;
        self.waiting_by_due.set(place, None);
        self.waiting_count -= 1;
        self.idle_at(place);
        Some(request)
    }

    /// Returns the waiting requests, unordered. O(n).
    pub(crate) fn waiting(&self) -> impl Iterator<Item = Request> {
        self.waiting_places().map(|(_, request)| request)
    }

    fn waiting_places(&self) -> impl Iterator<Item = (u32, Request)> {
        (0_u32..).zip(&self.states).filter_map(|(place, state)| match state.stage {
            Stage::Waiting(request) => Some((place, request)),
            Stage::Idle | Stage::InFlight => None,
        })
    }

    /// Marks units whose next release may be now as ready. O(log n) each, once per job.
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

    /// Returns the earliest deadline of the units on the drive, in ns.
    pub(crate) fn due_in_flight(&self) -> Option<u64> {
        self.in_flight_by_due.least().map(|(due, _)| due)
    }

    /// Returns the earliest possible deadline of the next jobs of the units on the drive, in ns.
    pub(crate) fn due_after_flight(&self) -> Option<u64> {
        self.in_flight_by_next_due.least().map(|(due, _)| due)
    }

    /// Returns the earliest deadline of the waiting units, in ns.
    pub(crate) fn due_waiting(&self) -> Option<u64> {
        self.waiting_by_due.least().map(|(due, _)| due)
    }

    /// Returns the second-earliest deadline of the waiting units, in ns.
    pub(crate) fn due_waiting_second(&mut self) -> Option<u64> {
        let (due, place) = self.waiting_by_due.least()?;
        self.waiting_by_due.set(place, None);
        let second = self.due_waiting();
        self.waiting_by_due.set(place, Some(due));
        second
    }

    /// Returns all deadlines of the waiting units, the earliest first, in ns. O(n log n).
    pub(crate) fn dues_waiting(&self) -> Vec<u64> {
        let mut dues: Vec<u64> =
            self.waiting_places().map(|(place, request)| self.due(place, &request).ns()).collect();
        dues.sort_unstable();
        dues
    }

    /// Returns the earliest possible deadline of the next jobs of units that may not be released
    /// yet, in ns.
    pub(crate) fn due_if_released_next(&self) -> Option<u64> {
        self.cooling_by_next_due.least().map(|(due, _)| due)
    }

    /// Returns the shortest relative deadline of the units that may be released now, in ns.
    pub(crate) fn deadline_if_released_now(&self) -> Option<u64> {
        self.ready_by_deadline.least().map(|(deadline, _)| deadline)
    }

    /// Takes the idle unit of the request's task that may be released earliest; returns it with the
    /// request's deadline. O(e).
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

    /// Returns the absolute deadline of a request, counted from its eligibility: a request that a
    /// regulator held back is already late and must not close the gate for others.
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
