// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The statistics of one export.

use tidegate_model::Duration;
use tidegate_stats::{Distribution, Memory, ResponseCounts};

/// An export's statistics.
#[derive(Debug, Clone)]
pub struct ExportStatistics {
    /// Response times of requests within the contract, or of best-effort requests. Each counts from
    /// the arrival, or from when no earlier overlapping request was outstanding if that is later,
    /// to the reply.
    pub responses: Distribution,
    /// Response times from when the contract allowed a request to its reply; the bound applies to
    /// these. Empty for best effort.
    pub bounded: Distribution,
    /// The response times of `bounded`, counted in histogram classes.
    pub bounded_counts: ResponseCounts,
    /// The response times of best effort in histogram classes, including requests beyond the
    /// contract.
    pub best_effort_counts: ResponseCounts,
    /// The number of further requests that the contract allows now.
    pub tokens: u32,
    /// The times from when the contract allowed a request (without a contract: from its arrival)
    /// until its reply was handed to the client's socket, in histogram classes, without the time
    /// during which the socket had no room for it. Empty unless the export has clients of the
    /// service's own server.
    pub at_socket: ResponseCounts,
    /// The longest time in `at_socket` of an in-contract request.
    pub at_socket_max: Duration,
    /// The total time during which clients' sockets had no room for replies.
    pub client_full: Duration,
    /// The number of in-contract requests that completed after their deadline.
    pub misses: u64,
    /// The number of in-contract requests whose response time exceeded the bound that was proved at
    /// that time.
    pub exceeded: u64,
    /// The largest excess over the bound.
    pub excess_max: Duration,
    /// The number of `exceeded` requests that still completed by their deadline, while the drive
    /// was late during their busy interval; they do not degrade the guarantee.
    pub exceeded_tolerated: u64,
    /// Whether a response exceeded the bound without being tolerated, and the guarantee has not
    /// been restored yet.
    pub is_degraded: bool,
    /// The number of `exceeded` requests whose excess is larger than the lateness of drive and host
    /// in the same busy interval. That lateness consists of the longest wait of a request to be
    /// read, the host's time from reading to sending, and the time by which batches exceeded the
    /// drive's table. The number is 0 unless the proof is wrong.
    pub unexplained: u64,
    /// The number of requests beyond the contract.
    pub beyond: u64,
    /// The number of failed requests.
    pub failed: u64,
    /// The number of requests that are still outstanding.
    pub outstanding: u64,
    /// The number of bytes read and written.
    pub bytes: u64,
    /// The number of flushes and durable writes.
    pub flushes: u64,
}

impl Default for ExportStatistics {
    fn default() -> Self {
        Self {
            responses: Distribution::new(Memory::AsNeeded),
            bounded: Distribution::new(Memory::AsNeeded),
            bounded_counts: ResponseCounts::default(),
            best_effort_counts: ResponseCounts::default(),
            tokens: 0,
            at_socket: ResponseCounts::default(),
            at_socket_max: Duration::ZERO,
            client_full: Duration::ZERO,
            misses: 0,
            exceeded: 0,
            excess_max: Duration::ZERO,
            exceeded_tolerated: 0,
            is_degraded: false,
            unexplained: 0,
            beyond: 0,
            failed: 0,
            outstanding: 0,
            bytes: 0,
            flushes: 0,
        }
    }
}
