// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The part of the commands that all front ends share. It reads workloads with the drives and
//! profiles that they name, imports drives, and runs policies, traces and servers in virtual time.
//!
//! It prints nothing and parses no arguments. A fault says what is wrong, where, and what to do;
//! each front end presents it in its own way.

mod contracts;
#[cfg(test)]
mod curves_tests;
mod drive;
mod fault;
mod import;
mod origin;
mod processor;
mod processor_simulation;
mod reached;
mod replay;
mod request_log;
mod simulation;
mod suggestion;
mod tables;
mod text;
mod workload;

pub use contracts::proves_contracts;
pub use drive::NamedDrive;
pub use fault::{Fault, Faults, Place, with_causes};
pub use import::import;
pub use origin::{BUILD, DATE, of as origin_of, of_file as file_origin, version};
pub use processor::{Processor, parse as parse_processor, parse_profile, read as read_processor};
pub use processor_simulation::{ProcessorRuns, simulate_processor};
pub use reached::explained;
pub use replay::{Replayed, Trace, read_trace, replay};
pub use request_log::{
    EndedRows, LeftOut, RequestLogFile, RequestRow, RequestRows, RowWriter, WhenFull,
};
pub use simulation::{NotRun, Simulated, is_proven, simulate, simulate_own};
pub use suggestion::{beside, completed, completed_fault, quoted};
pub use text::{missing_file_help, read_text};
pub use workload::{Changes, DriveChoice, Input, Machine, parse, parse_machine, policies, read};
