// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exports of a scenario's service: three exports under each policy, or two proved contracts
//! and best effort.

use std::sync::{Arc, LazyLock, Mutex};

use tidegate_analysis::{Answer, assess};
use tidegate_device::Waker;
use tidegate_model::serve_file::Layout;
use tidegate_model::{
    BatchTable, BestEffortShare, Bytes, DriveFile, ExportContract, ExportSpec, PolicyName,
    ServeFile, Workload,
};
use tidegate_platform::Clock;
use tidegate_policy::Policy;

use super::scenario::BLOCKS;
use super::store::{BLOCK, FLUSH_TIME, Store};
use super::{SERVE, drive_file, params, table};
use crate::serve::arrangement;
use crate::service::core::Core;
use crate::service::export_table::ExportTable;
use crate::service::gate::AllGates;
use crate::service::inbox::Inbox;
use crate::service::look::Recent;
use crate::service::offer::{Arrangement, CurrentOffer, Member};
use crate::service::params::ServiceParams;
use crate::service::pool::Pool;
use crate::service::shared::Shared;
use crate::service::statistics::Watch;

/// The number of blocks between the starts of two consecutive exports.
pub(in crate::service) const SPREAD: usize = 256;

/// The largest batch times in ms, without a flush.
pub(in crate::service) const BATCH_MS: [u64; 6] = [4, 6, 8, 10, 12, 14];

/// A store with room for five exports of 1 MiB.
pub(in crate::service) const LAYOUT: Layout =
    Layout { size: Bytes::from_kib(5 << 10), alignment: Bytes::new(512) };

/// Makes the core of a service on a drive with the times [`BATCH_MS`].
pub(in crate::service) fn core(params: &ServiceParams, seed: u64) -> Core<Store> {
    let watch = Watch::new(Some(&params.arrangement.plan.limits));
    core_on(params, &table(&BATCH_MS), watch, seed)
}

/// Makes the core of a service on a drive with these batch times.
pub(in crate::service) fn core_on(
    params: &ServiceParams,
    times: &BatchTable,
    watch: Watch,
    seed: u64,
) -> Core<Store> {
    let arrangement = &params.arrangement;
    let policy = params.policy(arrangement).expect("the plan fits the policy");
    core_of(params, times, policy, watch, seed)
}

/// Makes the core of a service under another policy.
pub(in crate::service) fn core_of(
    params: &ServiceParams,
    times: &BatchTable,
    policy: Box<dyn Policy>,
    watch: Watch,
    seed: u64,
) -> Core<Store> {
    let ServiceParams { exports, arrangement, .. } = params;
    let store = Store::pseudo(times, SPREAD * exports.len(), seed);
    let members = Member::of_exports(exports, &arrangement.bounds);
    let core = Core::new(store, policy, &members, arrangement.window as usize, watch);
    core.behind_host(params.host)
}

/// Returns a shared service, which is made only once because making it takes longer than running a
/// scenario.
pub(super) fn shared(has_contracts: bool, policy: PolicyName) -> Arc<Shared> {
    static PROVED: LazyLock<Arc<Shared>> = LazyLock::new(|| share(proved()));
    static OTHERS: LazyLock<Vec<Arc<Shared>>> = LazyLock::new(|| {
        let policies = [PolicyName::Dqf, PolicyName::Noop, PolicyName::Fifo, PolicyName::Rtio];
        policies.map(|policy| share(params(exports(3), policy, &table(&BATCH_MS)))).into()
    });
    if has_contracts {
        return PROVED.clone();
    }
    let of_policy = |shared: &&Arc<Shared>| shared.params.arrangement.policy == policy;
    OTHERS.iter().find(of_policy).expect("one of each").clone()
}

fn share(params: ServiceParams) -> Arc<Shared> {
    share_with(params, Waker::new().expect("a descriptor"))
}

pub(in crate::service) fn share_with(params: ServiceParams, waker: Waker) -> Arc<Shared> {
    let (inbox, pool) = (Inbox::new(Clock::start(), waker), Pool::new(params.size_max));
    let table = ExportTable::new(&params.exports, &params.arrangement);
    let (offer, recent) = (CurrentOffer::new(table.offer()), Recent::default());
    let (gates, table, changing) = (AllGates::default(), Mutex::new(table), Mutex::default());
    Arc::new(Shared { params, inbox, pool, gates, offer, table, changing, recent })
}

/// Returns `count` exports without a contract.
pub(in crate::service) fn exports(count: u64) -> Vec<ExportSpec> {
    (0..count).map(|number| export(number, None)).collect()
}

pub(in crate::service) fn export(number: u64, contract: Option<ExportContract>) -> ExportSpec {
    ExportSpec {
        name: format!("export-{number}"),
        offset: Bytes::new(number * (SPREAD * BLOCK) as u64),
        size: Bytes::new(BLOCKS * BLOCK as u64),
        contract,
        is_soft: false,
        share: BestEffortShare::default(),
        is_read_only: false,
    }
}

/// Makes the parameters of a service with two contracts and best effort, proved as for a serve
/// file.
pub(in crate::service) fn proved() -> ServiceParams {
    Rules::new(SERVE, &drive_file(&table(&BATCH_MS), FLUSH_TIME)).params()
}

/// A serve file, and the drive for which it was written.
#[derive(Debug)]
pub(in crate::service) struct Rules {
    pub(in crate::service) file: ServeFile,
    pub(in crate::service) drive: DriveFile,
}

impl Rules {
    pub(in crate::service) fn new(serve: &str, drive: &str) -> Self {
        let file = ServeFile::parse(serve).expect("it is sound");
        Self { file, drive: DriveFile::parse(drive).expect("it is sound") }
    }

    pub(in crate::service) fn exports(&self) -> Vec<ExportSpec> {
        self.file.exports(LAYOUT).expect("they fit")
    }

    /// Returns the workload for which the policy is proved if the service has these exports.
    pub(in crate::service) fn workload(&self, exports: &[ExportSpec]) -> Workload {
        self.file.with_exports(exports).bind(&self.drive).expect("it fits").workload
    }

    /// Returns the arrangement of these exports; `None` if a contract is not proved.
    pub(in crate::service) fn arrange(&self, exports: &[ExportSpec]) -> Option<Arrangement> {
        let workload = self.workload(exports);
        let assessment = assess(&workload, workload.policy);
        if exports.iter().any(ExportSpec::is_promised) {
            if assessment.answer != Answer::Proven {
                return None;
            }
            assert!(assessment.tasks.iter().all(|task| task.response_max.is_some()));
        }
        Some(arrangement(&workload, &assessment, exports))
    }

    /// Makes the parameters of a service with the file's exports.
    pub(in crate::service) fn params(&self) -> ServiceParams {
        let exports = self.exports();
        let arrangement = self.arrange(&exports).expect("it is proved");
        let table = &self.drive.batch[0].table;
        let host = self.file.host.as_ref().map(|section| section.times);
        ServiceParams { arrangement, host, ..params(exports, PolicyName::Dqf, table) }
    }
}
