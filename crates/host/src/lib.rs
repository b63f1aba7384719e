// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parts that all hosts of a policy share: the loop, the sources of a workload, the outstanding
//! requests, and the metrics.
//!
//! A [`Host`] runs a policy on a [`Backend`], which executes requests and tells the time: a
//! simulated drive in virtual time (`sim`) or a device on the real clock (`engine`). An
//! [`Observer`] watches a run. Nothing here reads a clock or a disk. Memory grows with the
//! outstanding requests, never with the length of a run.

mod backend;
mod batch_watch;
mod bunch;
mod busy_interval;
mod contract_watch;
mod delay;
mod held;
mod host;
mod ledger;
pub mod metrics;
mod observer;
mod over_time;
mod params;
mod positions;
mod request_log;
mod round;
mod run;
mod run_state;
mod seen;
mod source;
mod sources;

pub use backend::{Backend, Completion};
pub use batch_watch::BatchWatch;
pub use busy_interval::{BusyEvent, BusyInterval, BusyIntervals, BusyStep};
pub use contract_watch::{ContractWatch, DrainWatch, Overruns, PriorityWatch, ResidenceWatch};
pub use delay::delay_up_to;
pub use host::Host;
pub use ledger::slot;
pub use metrics::{RunMetrics, SourceMetrics, Totals};
pub use observer::Observer;
pub use over_time::{EntryOverTime, OverTime};
pub use params::{HostParams, Length, task_beyond_time};
pub use positions::has_room;
pub use request_log::{Dispatches, EndedRequest, RequestLog};
pub use round::{Requests, Round};
pub use run::{Run, RunEnd};
