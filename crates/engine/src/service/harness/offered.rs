// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exports of a scenario's service: three exports under each policy, or two proved contracts
//! and best effort.

use std::sync::{Arc, LazyLock, Mutex};

use tidegate_analysis::{Answer, assess};
use tidegate_device::Waker;
use tidegate_model::serve_file::Layout;
use tidegate_model::{BestEffortShare, Bytes, DriveFile, ExportSpec, PolicyName, ServeFile};
use tidegate_platform::Clock;

use super::scenario::BLOCKS;
use super::store::{BLOCK, FLUSH_TIME, Store};
use super::{SERVE, drive_file, params, table};
use crate::serve::arrangement;
use crate::service::core::Core;
use crate::service::export_table::ExportTable;
use crate::service::gate::AllGates;
use crate::service::inbox::Inbox;
use crate::service::look::Recent;
use crate::service::offer::{CurrentOffer, Member};
use crate::service::params::ServiceParams;
use crate::service::pool::Pool;
use crate::service::shared::Shared;
use crate::service::statistics::Watch;

/// The number of blocks from one export's start to the next one's.
pub(super) const SPREAD: usize = 256;

/// The largest batch times in ms, without a flush.
pub(super) const BATCH_MS: [u64; 6] = [4, 6, 8, 10, 12, 14];

/// Makes the core of the service that `params` describes.
pub(in crate::service) fn core(params: &ServiceParams, seed: u64) -> Core<Store> {
    let ServiceParams { exports, arrangement, .. } = params;
    let policy = params.policy(arrangement).expect("built before");
    let store = Store::pseudo(&table(&BATCH_MS), SPREAD * exports.len(), seed);
    let members = Member::of_exports(exports, &arrangement.bounds);
    let watch = Watch::new(Some(arrangement.plan.table.clone()));
    Core::new(store, policy, &members, arrangement.window as usize, watch)
}

/// Returns a shared service, which is made only once because making it takes longer than running a
/// scenario.
pub(super) fn shared(has_contracts: bool, policy: PolicyName) -> Arc<Shared> {
    static PROVED: LazyLock<Arc<Shared>> = LazyLock::new(|| share(proved()));
    static OTHERS: LazyLock<Vec<Arc<Shared>>> = LazyLock::new(|| {
        let policies = [PolicyName::Dqf, PolicyName::Noop, PolicyName::Fifo, PolicyName::Rtio];
        policies.map(|policy| share(params(exports(), policy, &table(&BATCH_MS)))).into()
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

fn exports() -> Vec<ExportSpec> {
    let export = |number: u64| ExportSpec {
        name: format!("export-{number}"),
        offset: Bytes::new(number * (SPREAD * BLOCK) as u64),
        size: Bytes::new(BLOCKS * BLOCK as u64),
        contract: None,
        share: BestEffortShare::default(),
        is_read_only: false,
    };
    (0..3).map(export).collect()
}

/// Makes a service with two contracts and best effort, proved as for a serve file.
pub(in crate::service) fn proved() -> ServiceParams {
    let file = ServeFile::parse(SERVE).expect("it is sound");
    let drive = DriveFile::parse(&drive_file(&table(&BATCH_MS), FLUSH_TIME)).expect("it is sound");
    let bound = file.bind(&drive).expect("it fits");
    let assessment = assess(&bound.workload, bound.workload.policy);
    assert_eq!(assessment.answer, Answer::Proven);
    let layout = Layout { size: Bytes::from_kib(3 << 10), alignment: Bytes::new(512) };
    let exports = file.exports(layout).expect("they fit");
    ServiceParams {
        arrangement: arrangement(&bound.workload, &assessment, &exports),
        ..params(exports, PolicyName::Dqf, &table(&BATCH_MS))
    }
}
