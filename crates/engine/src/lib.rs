// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The run-time host of the policies: executes a workload against a device, on one thread.
//!
//! [`run()`] is the loop. What executes requests and tells the time is an [`Executor`]:
//! [`RingExecutor`] is a real device on the real clock, [`DriveExecutor`] a simulated drive
//! in virtual time, for tests without a clock or a disk.
//!
//! Real-time scheduling is the caller's to ask for, once, in the thread that will run and
//! before it makes an executor: `device::realtime::request` says what was granted.
//!
//! # Example
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use drive::PseudoDisk;
//! use engine::{DriveExecutor, Length, Limits, RunParams};
//! use model::workload_file::{DriveReference, WorkloadFile};
//! use model::{Bytes, Duration, PolicyName};
//!
//! let file = WorkloadFile::parse(r#"
//!     [drive]
//!     kind = "pseudo"
//!     batch_ns_max = [5_000_000, 8_000_000]
//!
//!     [policy]
//!     name = "dqf"
//!     batch = 2
//!
//!     [[task]]
//!     name = "camera"
//!     count = 2
//!     period = "20ms"
//!     size = "128KiB"
//! "#)?;
//! let DriveReference::Inline(drive) = &file.drive else { unreachable!() };
//! let workload = file.bind(drive)?;
//!
//! let plan = analysis::assess(&workload, PolicyName::Dqf).plan(&workload);
//! let limits = Limits {
//!     capacity: Bytes::from_kib(1 << 20),
//!     alignment: Bytes::new(512),
//!     size_max: workload.size_max(),
//!     in_flight_max: plan.depth,
//!     is_writable: false,
//! };
//! let drive = PseudoDisk::new(plan.depth, plan.table.clone(), 42);
//! let params = RunParams {
//!     workload: &workload,
//!     plan: &plan,
//!     policy: PolicyName::Dqf,
//!     length: Length::Jobs(100),
//!     seed: 42,
//! };
//! let mut executor = DriveExecutor::new(drive, limits);
//! let outcome = engine::run(&params, &mut executor, &AtomicBool::new(false))?;
//!
//! assert!(outcome.is_kept());
//! assert_eq!(outcome.tasks[0].jobs, 100);
//! // Both cameras release at the same instants and share a batch of two: 8 ms.
//! let slowest = outcome.tasks.iter().filter_map(|task| task.response).map(|times| times.max);
//! assert_eq!(slowest.max(), Some(Duration::from_ms(8)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch_watch;
mod calendar;
mod drive_executor;
mod executor;
mod host;
mod live;
mod metrics;
mod outcome;
mod params;
mod places;
mod recorder;
mod ring_executor;
mod run;
mod slab;
mod source;
mod span;

pub use drive_executor::DriveExecutor;
pub use executor::{Completion, Executor, ExecutorError, Limits};
pub use metrics::Summary;
pub use outcome::{ClassOutcome, RunEnd, RunOutcome, TaskOutcome};
pub use params::{Length, RunError, RunParams};
pub use ring_executor::RingExecutor;
pub use run::run;
