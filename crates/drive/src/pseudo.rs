// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The pseudo-disk: a drive that is as slow as its batch table allows and completes requests in
//! random order. It is the adversary that guarantees must withstand, and it honours its table: a
//! batch given to the idle drive, joined by no other request, takes exactly b(n). If requests have
//! individual costs, it honours these too; the table is then the largest request's.
//!
//! Source: dissertation 9.3.3. Deviation: there b is equation 7.4.1.7, here any table.

use tidegate_model::{BatchTable, CostModel, Duration, Request};

use crate::spaced::{BatchTimes, Mix, SpacedDrive};

/// The cost of a request whose cost is unknown. It is longer than any batch: a day, the longest
/// time that a drive file can state.
const UNKNOWN_NS: u64 = 86_400_000_000_000;

/// The dissertation's pseudo-disk; see the module documentation and [`SpacedDrive`].
pub type PseudoDisk = SpacedDrive<LongestTimes>;

/// The longest times that a table allows, limited by the costs of the requests if these are given.
#[derive(Debug, Clone)]
pub struct LongestTimes {
    table: BatchTable,
    costs: Option<CostModel>,
}

impl PseudoDisk {
    /// Creates an idle pseudo-disk that accepts `depth` requests and serves n of them in b(n).
    ///
    /// # Panics
    /// If `depth` is 0.
    pub fn new(depth: u32, table: BatchTable, seed: u64) -> Self {
        Self::with_costs(depth, table, None, seed)
    }

    /// Creates an idle pseudo-disk that serves n requests in b(n) or, if this is less, in the
    /// longest time that `costs` allows for these requests.
    ///
    /// # Panics
    /// If `depth` is 0.
    pub fn with_costs(depth: u32, table: BatchTable, costs: Option<CostModel>, seed: u64) -> Self {
        Self::with_times(depth, LongestTimes { table, costs }, seed)
    }
}

impl LongestTimes {
    /// Returns the sum of A (`positioning_max`), the requests' costs, and the largest possible
    /// number of changes between reads and writes; `None` if the costs do not cover batches of this
    /// size.
    fn by_costs(&self, mix: Mix, costs_ns: u64) -> Option<Duration> {
        let costs = self.costs.as_ref()?;
        if costs.batch_max.is_some_and(|known_max| known_max < mix.total()) {
            return None;
        }
        let changes = 2 * u64::from(mix.reads.min(mix.writes));
        let switches = costs.switch_max.unwrap_or_default().checked_mul(changes)?;
        costs.positioning_max.checked_add(Duration::from_ns(costs_ns))?.checked_add(switches)
    }
}

/// Always takes the longest time.
impl BatchTimes for LongestTimes {
    fn batch_max(&self) -> u32 {
        self.table.batch_max()
    }

    fn cost_ns(&self, request: &Request) -> u64 {
        let Some(costs) = &self.costs else { return 0 };
        // The table decides for requests of unknown cost.
        costs.cost(request.op, request.size).map_or(UNKNOWN_NS, Duration::ns)
    }

    fn batch_time(&self, mix: Mix, _draw: u64) -> Duration {
        self.table.time_max(mix.total())
    }

    fn within_costs(&self, time: Duration, mix: Mix, costs_ns: u64) -> Duration {
        self.by_costs(mix, costs_ns).map_or(time, |by_costs| by_costs.min(time))
    }
}
