// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The definitions that all parts of Tidegate share: quantities with their units, tasks, requests,
//! the batch table b(i), the plan that the analysis gives to a policy, and the two files that
//! people write (drive file and workload file).
//!
//! This crate reads neither a clock nor a disk: callers pass the text of files.

#![warn(clippy::float_arithmetic)]
#![deny(clippy::wildcard_enum_match_arm)]

#[macro_use]
mod named;

pub mod access_time;
pub mod active_subset;
pub mod all_faults;
pub mod batch_cost;
pub mod batch_table;
mod best_effort_order;
pub mod contracts;
pub mod cost;
pub mod did_you_mean;
pub mod document;
pub mod drive_file;
pub mod drive_limits;
pub mod entry;
pub mod export;
pub mod facts;
pub mod file_error;
pub mod file_kind;
mod host_section;
pub mod host_time;
pub mod measurement;
pub mod mechanics;
pub mod names;
pub mod parameters;
pub mod plan;
mod plural;
pub mod premise;
pub mod printable;
pub mod quantity;
pub mod random;
pub mod regulator;
pub mod request;
pub mod sampling;
pub mod serve_file;
pub mod slowdown;
pub mod soft_table;
pub mod ssd;
pub mod task;
pub mod typical_times;
pub mod units;
pub mod verdict;
pub mod workload;
pub mod workload_file;

pub use access_time::{AccessTime, Target};
pub use active_subset::{ActiveSubset, Margin};
pub use all_faults::all_faults;
pub use batch_cost::{BatchCost, RequestCharges};
pub use batch_table::BatchTable;
pub use best_effort_order::BestEffortOrder;
pub use contracts::{
    Ceilings, ContractPremise, Contracts, DeferredWrites, DriveContract, ServicePrediction,
};
pub use cost::CostModel;
pub use document::Document;
pub use drive_file::{DriveFile, DriveKind};
pub use drive_limits::{BatchTimes, DriveLimits, DriveTimes};
pub use export::{BestEffortShare, Beyond, ExportContract, ExportPlace, ExportSpec, NewExport};
pub use facts::{
    BatchLimit, BestEffortQueue, ConservesWork, DispatchMode, Knowledge, PolicyFacts, Theorem,
    TheoremFacts, UnprovedDepth,
};
pub use file_error::FileError;
pub use file_kind::FileKind;
pub use host_section::{HostInterference, HostSection, InterferenceBound};
pub use host_time::{Host, HostTime};
pub use measurement::Measurement;
pub use names::PolicyName;
pub use parameters::Parameters;
pub use plan::Plan;
pub use plural::count;
pub use premise::{Grade, Premise, PremiseCode, Premises, Weight};
pub use printable::{is_hidden, printable};
pub use random::Random;
pub use regulator::RegulatorName;
pub use request::{Outcome, Request, RequestId, Tag};
pub use sampling::Sampling;
pub use serve_file::ServeFile;
pub use slowdown::Slowdown;
pub use soft_table::SoftTable;
pub use task::{Arrivals, BestEffort, Class, Intensity, Op, Place, Task, TaskIndex};
pub use typical_times::{FlowTimes, TypicalTimes};
pub use units::{Bandwidth, Bytes, Duration, Lba, Time};
pub use verdict::Verdict;
pub use workload::{BatchChoice, DepthChoice, Workload};
pub use workload_file::WorkloadFile;
