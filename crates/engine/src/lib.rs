// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a workload under a policy against a device, on one thread, and serves exports.
//!
//! [`run()`] runs the loop that all hosts share (`tidegate_host`) on a [`DeviceBackend`], which is
//! a real device on the real clock, and observes it with a [`DeviceWatch`]. Tests use a simulated
//! drive instead.
//!
//! The caller must request real-time scheduling once, in the thread that calls [`run()`] and before
//! it makes a backend: `tidegate_platform::realtime::request` returns what was granted.
//!
//! # Example
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use tidegate_drive::PseudoDisk;
//! use tidegate_engine::{Length, Limits, RunParams};
//! use tidegate_model::workload_file::{DriveReference, WorkloadFile};
//! use tidegate_model::{Bytes, Duration, Plan, PolicyName};
//! use tidegate_sim::VirtualDrive;
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
//! let plan = Plan { batch_max: 2, ..Plan::of(&workload) };
//! let limits = Limits {
//!     capacity: Bytes::from_kib(1 << 20),
//!     alignment: Bytes::new(512),
//!     size_max: workload.size_max(),
//!     in_flight_max: plan.depth,
//!     is_writable: false,
//! };
//! let params = RunParams {
//!     workload: &workload,
//!     plan: &plan,
//!     policy: PolicyName::Dqf,
//!     length: Length::Jobs(100),
//!     seed: 42,
//!     limits,
//! };
//! let drive = PseudoDisk::new(plan.depth, plan.table.clone(), 42);
//! let mut backend = VirtualDrive::new(drive);
//! let found = tidegate_engine::run(&params, None, &mut backend, (), &AtomicBool::new(false))?;
//!
//! let metrics = &found.run.metrics;
//! assert!(metrics.is_kept());
//! assert_eq!(metrics.tasks()[0].jobs(), 100);
//! // Both cameras release at the same instants and share a batch of two: 8 ms.
//! let slowest = metrics.tasks().iter().filter_map(|task| task.responses.max()).max();
//! assert_eq!(slowest, Some(Duration::from_ms(8)));
//! assert_eq!(found.watch.batches.overruns, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acceptor;
pub mod control;
mod device_backend;
mod device_watch;
#[cfg(any(test, feature = "harness"))]
#[doc(hidden)]
pub mod harness;
pub mod known_device;
mod limits;
pub mod log;
pub mod metrics;
mod params;
mod peers;
mod priority;
mod run;
pub mod serve;
pub mod service;
mod wait;

pub use device_backend::{BackendError, DeviceBackend};
pub use device_watch::DeviceWatch;
pub use limits::Limits;
pub use params::{RunError, RunParams};
pub use peers::LogSink;
pub use priority::Priority;
pub use run::{DeviceRun, run};
pub use tidegate_host::BatchWatch;
pub use tidegate_host::{Length, Run, RunEnd};
