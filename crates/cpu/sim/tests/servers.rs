// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Servers of the literature on the simulated processor: the defect of the original sporadic
//! server, and work without a server. A tick is a microsecond.

use tidegate_cpu_model::{
    Arrivals, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority, Scheduling,
    ServerKind, ServerParams,
};
use tidegate_cpu_sim::{CpuObserver, CpuParams, CpuRun, Thread, simulate};
use tidegate_model::{Duration, Time};

const US: fn(u64) -> Duration = Duration::from_us;

/// Records when the server executes, tick by tick.
#[derive(Default)]
struct Ticks(Vec<u64>);

impl CpuObserver for Ticks {
    fn executed(&mut self, thread: Thread, from: Time, to: Time, _: bool) {
        if matches!(thread, Thread::Server(_)) {
            self.0.extend(from.ns() / 1_000..to.ns() / 1_000);
        }
    }
}

impl Ticks {
    /// Returns the most execution in any window of this length.
    fn window_max(&self, length: u64) -> usize {
        let in_window =
            |from: &u64| self.0.iter().filter(|tick| (*from..from + length).contains(tick)).count();
        self.0.iter().map(in_window).max().unwrap_or(0)
    }
}

fn task(name: &str, execution: u64, offset: u64, priority: u32) -> CpuTask {
    CpuTask { offset: US(offset), ..CpuTask::new(name, US(execution), US(200), Priority(priority)) }
}

/// Returns a workload with a server of 20 in every 50 at priority 2, and jobs of (instant,
/// execution).
fn with_server(kind: ServerKind, jobs: &[(u64, u64)]) -> CpuWorkload {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    let params = ServerParams::new(kind, US(20), US(50));
    workload.servers.push(CpuServer::new("server", Priority(2), params));
    for &(at, execution) in jobs {
        let (arrivals, execution) = (Arrivals::At(vec![US(at)]), Execution::Fixed(US(execution)));
        workload.work.push(CpuWork::new(format!("job at {at}"), 0, arrivals, execution));
    }
    workload
}

fn run(workload: &CpuWorkload, ticks: &mut Ticks) -> CpuRun {
    simulate(&CpuParams::new(workload, US(199), 1), ticks)
}

/// Goal: the original sporadic server executes more in a window of 110 than the 50 of a periodic
/// task of 20 in every 50, and the task below responds later than its bound of 99. The corrected
/// servers do not. Method: the arrivals of figure 6.2.
#[test]
fn the_original_server_replenishes_too_early() {
    for (kind, in_window, response) in [
        (ServerKind::Spsl, 58, 117),
        (ServerKind::PosixSporadicStrict, 58, 117),
        (ServerKind::FixedPriority, 58, 117),
        (ServerKind::Sporadic, 50, 99),
        (ServerKind::HybridGradual, 40, 99),
        (ServerKind::Polling, 48, 97),
    ] {
        let mut workload = with_server(kind, &[(0, 18), (40, 20), (90, 20)]);
        workload.tasks.extend([task("above", 10, 41, 3), task("below", 49, 0, 1)]);
        let mut ticks = Ticks::default();
        let run = run(&workload, &mut ticks);
        let found = run.tasks[1].responses.max().map(|max| max.ns() / 1_000);
        assert_eq!((ticks.window_max(110), found), (in_window, Some(response)), "{kind}");
    }
}

/// The original server counts its period from the instant at which its priority level became
/// active, here with the task above it, so its budget is back at 50. The corrected server counts
/// from its own activation at 9.
#[test]
fn the_original_server_counts_from_its_priority_level() {
    for (kind, end) in [(ServerKind::Spsl, 70), (ServerKind::Sporadic, 79)] {
        let mut workload = with_server(kind, &[(9, 40)]);
        workload.tasks.push(task("above", 10, 0, 3));
        let mut ticks = Ticks::default();
        run(&workload, &mut ticks);
        assert_eq!(ticks.0.last(), Some(&(end - 1)), "{kind}");
    }
}

/// Goal: work without a server responds as if its server had the whole processor. Method: jobs of 3
/// every 7 below a task; a budget would delay them.
#[test]
fn a_fixed_priority_has_no_budget() {
    let responses = |kind, budget| {
        let mut workload = with_server(kind, &[]);
        let params = ServerParams::new(kind, US(budget), US(50));
        workload.servers[0].params = ServerParams { replenishments_max: 2_000, ..params };
        let arrivals = Arrivals::Periodic { period: US(7) };
        workload.work.push(CpuWork::new("packets", 0, arrivals, Execution::Fixed(US(3))));
        workload.tasks.push(task("above", 40, 11, 3));
        let run = run(&workload, &mut Ticks::default());
        let of = &run.work[0].responses;
        (of.count(), of.max(), run.servers[0].executed, run.servers[0].exhaustions)
    };
    let fixed = responses(ServerKind::FixedPriority, 1);
    assert_eq!(fixed, responses(ServerKind::Sporadic, 50));
    assert!(fixed.2 > US(20 * 4) && fixed.3 == 0);
    assert!(responses(ServerKind::Sporadic, 20).0 < fixed.0);
}
