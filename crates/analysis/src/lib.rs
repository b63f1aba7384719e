// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Response-time bounds: the promise of each policy and its theorem.
//!
//! One file per theorem family. No code here depends on a policy's code: promises and behaviour
//! meet only in the soundness tests, so an error must be made twice to go unnoticed. Demand rounds
//! up, supply and slack round down, overflow means "no bound".

#![warn(clippy::float_arithmetic)]
#![deny(clippy::wildcard_enum_match_arm)]

mod adaptive_drain;
mod assess;
mod assessment;
mod batch_choice;
mod bounds;
mod budget;
mod by_order;
mod ceilings;
mod climb;
mod deferred;
mod depth_cap;
mod drain;
mod elastic;
mod expected;
mod explain;
mod gated_drain;
mod headroom;
mod inapplicable;
mod mixed_task;
mod regulated;
mod rtio_slots;
mod search;
mod select;
mod shaping;
mod soft;
mod strict_classes;
mod system;
mod tasks;
mod tolerance;

pub mod cost_limited;
pub mod curves;
pub mod das;
pub mod dq_edf;
pub mod dqf;
pub mod edf;
pub mod edf_in_windows;
pub mod fifo;
pub mod fit;
pub mod heterogeneous;
pub mod rtio;

pub use assess::{assess, compare};
pub use assessment::{Answer, Assessment, Comparison, Limit, TaskAssessment};
pub use bounds::{BoundName, Bounds};
pub use expected::expected_best_effort;
pub use explain::{Explanation, counts_in_windows, explain};
pub use headroom::{Headroom, headroom, proves};
pub use inapplicable::Inapplicable;
pub use select::shares_bounds;
pub use shaping::response_limit;
pub use soft::{SoftPromise, soft_promise};
pub use system::{SporadicTask, System};
pub use tasks::Tasks;
pub use tidegate_model::Verdict;
pub use tolerance::{Tolerance, tolerance};
