// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kernel's decisions as a policy.

use std::collections::HashMap;
use std::ffi::CStr;
use std::ptr;

use tidegate_model::{
    BatchTable, BestEffortOrder, Class, Plan, PolicyName, RegulatorName, Request, RequestId, Time,
};
use tidegate_policy::{Decision, Event, Full, Policy, Tag};

use crate::library::{Handle, Library, ShimPlan, ShimRequest};

/// The policies that the kernel implements, indexed by `enum tg_policy`.
pub const POLICIES: [PolicyName; 4] =
    [PolicyName::Dqf, PolicyName::RtioLimit, PolicyName::AdaptiveDrain, PolicyName::GatedDrain];

/// The orders of best effort that the kernel implements, indexed by `enum tg_order`.
pub const ORDERS: [BestEffortOrder; 2] = [BestEffortOrder::Fifo, BestEffortOrder::Elevator];

/// One policy of the kernel under one plan.
///
/// The policy's queues have no limit, because in the kernel the submitter of a request owns the
/// request's memory.
#[derive(Debug)]
pub struct KernelPolicy {
    library: Library,
    bench: Handle,
    requests: HashMap<RequestId, Handle>,
}

impl KernelPolicy {
    /// Creates a policy of the kernel with this plan.
    ///
    /// # Errors
    /// The kernel's reason, if it refuses the plan.
    ///
    /// # Panics
    /// If the kernel does not implement the policy, the order, a regulator or the limit by cost.
    pub fn new(library: Library, name: PolicyName, plan: &Plan) -> Result<Self, String> {
        let figures = Figures::of(plan);
        let shim_plan = figures.shim_plan(name, plan);
        let bench = make(library, &shim_plan)?;
        Ok(Self { library, bench, requests: HashMap::new() })
    }

    /// Returns whether waiting best effort is eventually served, even if no task releases a job.
    #[expect(unsafe_code, reason = "calls C")]
    pub fn serves_best_effort(&self) -> bool {
        // SAFETY: the bench lives as long as `self`.
        unsafe { (self.library.serves_best_effort)(self.bench) != 0 }
    }

    fn release(&mut self, now: Time, request: &Request) {
        let shim_request = ShimRequest {
            id: request.id.0,
            released: request.released.ns(),
            eligible: request.eligible.ns(),
            due: request.due.map_or(u64::MAX, Time::ns),
            position: request.start.get(),
            task: request.task.0,
            class: class_number(request.class),
        };
        let handle = self.insert(&shim_request, now);
        self.requests.insert(request.id, handle);
    }

    #[expect(unsafe_code, reason = "calls C")]
    fn insert(&mut self, request: &ShimRequest, now: Time) -> Handle {
        // SAFETY: the bench lives as long as `self`; the shim copies the request.
        unsafe { (self.library.insert)(self.bench, request, now.ns()) }
    }

    #[expect(unsafe_code, reason = "calls C")]
    fn complete(&mut self, now: Time, id: RequestId) {
        let handle = self.requests.remove(&id).expect("the request is known");
        // SAFETY: the handle belongs to this bench, and is in flight, because the policies agreed
        // to send it.
        unsafe { (self.library.complete)(self.bench, handle, now.ns()) }
    }

    #[expect(unsafe_code, reason = "calls C")]
    fn cancel(&mut self, id: RequestId) {
        let Some(&handle) = self.requests.get(&id) else { return };
        // SAFETY: the handle belongs to this bench, and is no longer used if the shim removed it.
        if unsafe { (self.library.cancel)(self.bench, handle) } != 0 {
            self.requests.remove(&id);
        }
    }

    #[expect(unsafe_code, reason = "calls C")]
    fn ask(&mut self, now: Time) -> (u32, u64) {
        let mut value = 0;
        // SAFETY: the bench lives as long as `self`.
        let what = unsafe { (self.library.decide)(self.bench, now.ns(), &raw mut value) };
        (what, value)
    }
}

impl Policy for KernelPolicy {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.release(now, &request),
            Event::Complete { id, .. } => self.complete(now, id),
            Event::Cancel(id) => self.cancel(id),
            Event::Notice { .. } => {}
            Event::Reconfigure(_) => panic!("a plan of the kernel does not change"),
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        match self.ask(now) {
            (0, _) => Decision::AwaitEvent,
            (1, at) => Decision::NotBefore(Time::from_ns(at)),
            (2, id) => Decision::Dispatch { id: RequestId(id), tag: Tag::Simple },
            other => panic!("no decision: {other:?}"),
        }
    }
}

impl Drop for KernelPolicy {
    #[expect(unsafe_code, reason = "calls C")]
    fn drop(&mut self) {
        for handle in self.requests.values() {
            // SAFETY: the bench and its handles are no longer used.
            unsafe { (self.library.discard)(*handle) };
        }
        // SAFETY: the bench is no longer used.
        unsafe { (self.library.free)(self.bench) };
    }
}

/// The tables and tasks of a plan in nanoseconds.
struct Figures {
    batch: Vec<u64>,
    drain: Vec<u64>,
    tasks: Vec<u64>,
}

impl Figures {
    fn of(plan: &Plan) -> Self {
        let ns = |table: &BatchTable| -> Vec<u64> {
            (1..=table.batch_max()).map(|count| table.time_max(count).ns()).collect()
        };
        let of_task = |task: &tidegate_model::Task| {
            [task.period.ns(), task.deadline.ns(), u64::from(task.requests)]
        };
        Self {
            batch: ns(&plan.table),
            drain: plan.contracts.drain.as_ref().map_or(Vec::new(), ns),
            tasks: plan.tasks.iter().flat_map(of_task).collect(),
        }
    }

    fn shim_plan(&self, name: PolicyName, plan: &Plan) -> ShimPlan {
        assert!(plan.batch_cost.is_none(), "the kernel does not limit batches by cost");
        let is_token = |&regulator: &RegulatorName| regulator == RegulatorName::TokensPerTask;
        assert!(plan.regulators.iter().all(is_token), "the kernel has no other regulator");
        ShimPlan {
            policy: number(&POLICIES, &name),
            order: number(&ORDERS, &plan.best_effort_order),
            has_tokens: u32::from(!plan.regulators.is_empty()),
            depth: plan.depth,
            batch_max: plan.batch_max,
            fill: plan.best_effort_fill,
            best_effort_depth: plan.best_effort_depth,
            batch_count: count(&self.batch),
            drain_count: count(&self.drain),
            task_count: count(&plan.tasks),
            batch: self.batch.as_ptr(),
            drain: self.drain.as_ptr(),
            tasks: self.tasks.as_ptr(),
        }
    }
}

fn number<T: PartialEq>(all: &[T], wanted: &T) -> u32 {
    let position = all.iter().position(|one| one == wanted).expect("the kernel has it");
    u32::try_from(position).expect("a few")
}

fn count<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).expect("fewer than 2^32")
}

fn class_number(class: Class) -> u32 {
    match class {
        Class::Hard => 0,
        Class::Soft => 1,
        Class::Interactive => 2,
        Class::BestEffort => 3,
    }
}

#[expect(unsafe_code, reason = "calls C")]
fn make(library: Library, plan: &ShimPlan) -> Result<Handle, String> {
    let mut fault = ptr::null();
    // SAFETY: the plan and everything that it points to live until the call returns, and the shim
    // copies all of it.
    let bench = unsafe { (library.make)(plan, &raw mut fault) };
    if bench.is_null() {
        // SAFETY: a refused plan has a reason, which is a constant string of the library.
        return Err(unsafe { CStr::from_ptr(fault) }.to_string_lossy().into_owned());
    }
    Ok(bench)
}
