// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A service in virtual time with all kinds of faults, for tests and fuzzers.

pub(in crate::service) mod offered;
pub(crate) mod promises;
mod reference;
pub(crate) mod requests;
pub(in crate::service) mod scenario;
pub(crate) mod store;

use std::sync::{Arc, LazyLock};

use tidegate_device::Waker;
use tidegate_model::drive_file::PlaceFamily;
use tidegate_model::{
    BatchTable, Bytes, Duration, ExportSpec, Plan, PolicyName, Premises, Time, Workload,
};
use tidegate_platform::realtime::RealTime;

use super::inbox::Message;
use super::offer::Arrangement;
use super::{ServiceParams, Shared, View};
use rustix::io::Errno;

use store::BLOCK;

/// A serve file with three exports: `keeps` keeps its contract, `breaks` breaks it, and `floods`
/// sends as much as it can.
pub(crate) const SERVE: &str = r#"
backing = "disk"
drive = "disk.drive.toml"
size_max = "16KiB"

[[export]]
name = "keeps"
size = "1MiB"
contract = { period = "80ms", requests = 2, size_max = "16KiB" }

[[export]]
name = "breaks"
size = "1MiB"
contract = { period = "100ms", deadline = "90ms", requests = 1, size_max = "16KiB" }

[[export]]
name = "floods"
size = "1MiB"
best_effort = true
"#;

/// Makes a drive file whose batches take the same time for reads as for writes.
pub(crate) fn drive_file(batch: &BatchTable, flush: Duration) -> String {
    let times: Vec<u64> = (1..=batch.batch_max()).map(|count| batch.time_max(count).ns()).collect();
    let (depth, flush_ns) = (batch.batch_max(), flush.ns());
    let (times, places) =
        (format!("samples = 100000\nns_max = {times:?}\n"), at_all_places(&times));
    let table = |op: &str| format!("[[batch]]\nop = \"{op}\"\nsize = \"16KiB\"\n{times}{places}");
    format!(
        "name = \"disk\"\nkind = \"pseudo\"\ndepth = {depth}\nflush_ns_max = {flush_ns}\n{}{}",
        table("read"),
        table("write")
    )
}

/// Returns the drive file's key for a table with the same times at all places of the disk, because
/// exports are at several places.
pub(crate) fn at_all_places(ns_max: &[u64]) -> String {
    let family = |family: PlaceFamily| format!("{{ places = \"{family}\", ns_max = {ns_max:?} }}");
    format!("families = [{}]\n", PlaceFamily::ALL.map(family).join(", "))
}

pub(crate) fn table(ms: &[u64]) -> BatchTable {
    let times: Vec<Duration> = ms.iter().map(|&ms| Duration::from_ms(ms)).collect();
    BatchTable::new(&times).expect("a table")
}

/// Makes a plan without contracts for a drive with this table.
pub(crate) fn plan(table: &BatchTable) -> Plan {
    let mut workload = Workload::new("test", table.batch_max(), table.clone());
    workload.tasks = Vec::new();
    Plan { best_effort_fill: table.batch_max(), ..Plan::of(&workload) }
}

/// Makes the parameters of a service without contracts on a drive with this table.
pub(crate) fn params(
    exports: Vec<ExportSpec>,
    policy: PolicyName,
    table: &BatchTable,
) -> ServiceParams {
    let plan = plan(table);
    ServiceParams {
        arrangement: Arrangement {
            policy,
            window: 2 * plan.depth,
            plan,
            bounds: vec![None; exports.len()],
            premises: Premises::default(),
        },
        exports,
        is_measured: true,
        alignment: Bytes::new(BLOCK as u64),
        size_max: Bytes::from_kib(16),
        requests_max: None,
        can_trim: true,
        host: None,
        drive: None,
        placement: tidegate_model::serve_file::Placement::default(),
        prover: None,
        requests_to: None,
    }
}

/// Returns a view of a service with two contracts, which always replies with the same statistics.
pub(crate) fn view() -> View {
    static SEEN: LazyLock<Arc<Shared>> = LazyLock::new(|| {
        let waker = Waker::new().expect("a descriptor");
        let shared = offered::share_with(offered::proved(), waker.clone());
        let of_thread = shared.clone();
        // This is a plain thread, because a service's thread would request locked memory and
        // real-time scheduling.
        std::thread::spawn(move || answer_for_ever(&of_thread, &waker));
        shared
    });
    let refused = Errno::PERM;
    View {
        shared: SEEN.clone(),
        real_time: RealTime { scheduling: Err(refused), memory: Err(refused) },
    }
}

fn answer_for_ever(shared: &Shared, waker: &Waker) {
    let core = offered::core(&shared.params, 1);
    let (mut messages, mut latest) = (Vec::new(), Time::ZERO);
    loop {
        shared.inbox.take(&mut messages, &mut latest);
        for message in messages.drain(..) {
            if let Message::Ask { exports, answer } = message {
                let _ = answer.send(core.statistics_of(&exports));
            }
        }
        waker.sleep(Duration::from_ms(1_000));
    }
}
