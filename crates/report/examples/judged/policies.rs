// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The judged policies, with each order of best effort in turn. The proofs count best-effort
//! requests and do not depend on their order, so the judges must accept the logs of every order.

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{
    AccessTime, BestEffortOrder, Duration, Lba, Op, Plan, PolicyName, Request, Target, Time,
    Workload,
};
use tidegate_policy::{Policy, build};

/// The number of sectors among which the requests of a log are placed.
const SECTORS: u64 = 1 << 10;

/// Returns the workload with these `[[task]]` tables, on an inline drive with these tables of
/// times.
pub(crate) fn workload(name: PolicyName, times: &str, tasks: &str) -> Workload {
    let text = format!(
        "[drive]\nkind = \"pseudo\"\n{times}\n[policy]\nname = \"{name}\"\n\
         [[best_effort]]\nname = \"b\"\noutstanding = 99\nsize = \"4KiB\"\n{tasks}"
    );
    let file = WorkloadFile::parse(&text).expect("a valid file");
    let DriveReference::Inline(drive) = &file.drive else { unreachable!("an inline drive") };
    file.bind(drive).expect("an inline table covers everything")
}

/// Returns the policy of the log with this number.
pub(crate) fn policy(name: PolicyName, plan: Plan, number: u64) -> Box<dyn Policy> {
    let orders = BestEffortOrder::ALL;
    let turn = usize::try_from(number % orders.len() as u64).expect("few orders");
    let plan = Plan { best_effort_order: orders[turn], ..plan };
    build(name, &plan, Some(Box::new(Arbitrary { now: 0 })))
        .expect("the plan has all that it needs")
}

/// Returns `request` at a random place.
pub(crate) fn placed(random: &mut Pcg64, request: Request) -> Request {
    Request { start: Lba::new(random.random_range(0..SECTORS)), ..request }
}

/// Estimates that are unrelated to any drive and change at every instant, so that `satf` serves
/// best effort in an arbitrary order.
#[derive(Debug)]
struct Arbitrary {
    now: u64,
}

impl AccessTime for Arbitrary {
    fn target(&self, request: &Request) -> Target {
        Target {
            start: request.start,
            sectors: request.size.sectors_ceil(),
            op: Op::Read,
            cylinder: 0,
            head: 0,
            angle: 0,
            span: 0,
        }
    }

    fn advance(&mut self, now: Time) {
        self.now = now.ns();
    }

    fn access(&self, target: &Target) -> Duration {
        // Multiplication by a large odd number scatters neighbours; the low bits vary least.
        let mixed = (target.start.get() + SECTORS * self.now).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Duration::from_ns(mixed >> 44)
    }

    fn service(&self, target: &Target) -> Option<Duration> {
        Some(self.access(target))
    }

    fn dispatched(&mut self, _now: Time, _target: &Target) {}

    fn completed(&mut self, _now: Time, _target: &Target) {}
}
