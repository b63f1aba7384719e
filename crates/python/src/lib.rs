// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The native half of the Python package `tidegate`: drives, workloads, processors, proofs and
//! simulations.
//!
//! Results are passed to Python as the JSON of the commands; the Python half makes objects and data
//! frames from it. Python computes nothing that these crates can compute.

mod drive;
mod fault;
mod input;
mod interrupt;
mod own_policy;
mod processor;
mod result;
mod simulation;

/// The native module.
#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::drive::{Drive, drive_names, experiment_names, import_drive, profile, replay};
    #[pymodule_export]
    use crate::fault::{InputError, NotApplicableError, PolicyError, TidegateError};
    #[pymodule_export]
    use crate::input::{Workload, policy_names, proves_contracts};
    #[pymodule_export]
    use crate::own_policy::{Cancel, Complete, Full, Notice, Release, Request, Wait};
    #[pymodule_export]
    use crate::processor::{Processor, read_processor_profile, server_names};
    #[pymodule_export]
    use crate::result::read_result;
    #[pymodule_export]
    use crate::simulation::{simulate, simulate_own};

    /// Adds the version with the commit that it was built from.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", tidegate_commands::version())
    }
}
