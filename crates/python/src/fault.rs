// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exceptions that Python code gets.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tidegate_commands::{Faults, NotRun};
use tidegate_model::did_you_mean;

create_exception!(tidegate, TidegateError, PyException, "The base of all exceptions of Tidegate.");
create_exception!(
    tidegate,
    InputError,
    TidegateError,
    "A drive, a workload or an argument cannot be used. `faults` lists what is wrong: objects with \
     `message`, `help`, `file`, `line` and `column`, each but the message possibly `None`."
);
create_exception!(
    tidegate,
    NotApplicableError,
    InputError,
    "The policy does not apply to this drive."
);
create_exception!(
    tidegate,
    PolicyError,
    TidegateError,
    "A policy written in Python broke the protocol, or one of the rules that it declares. \
     `violations` lists the rules that were broken."
);

/// Returns the exception for faults of the input.
pub(crate) fn input_error(faults: &Faults) -> PyErr {
    raised(InputError::new_err(text(faults)), faults)
}

/// Returns the exception for a policy that was not simulated.
pub(crate) fn not_run(reason: NotRun) -> PyErr {
    match reason {
        NotRun::NotApplicable(reason) => {
            let faults = Faults::unusable(&reason);
            raised(NotApplicableError::new_err(text(&faults)), &faults)
        }
        NotRun::Unusable(faults) => input_error(&faults),
    }
}

/// Returns the exception for an argument that cannot be used.
pub(crate) fn argument_error(message: impl Into<String>, help: impl Into<String>) -> PyErr {
    input_error(&Faults::one(message, help))
}

/// Returns the exception for an unknown name, with the known name that was probably meant; `what`
/// says what the name should be.
pub(crate) fn no_name<'a>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> PyErr {
    argument_error(format!("`{name}` is no {what}"), did_you_mean::advice(name, known))
}

/// Formats each fault on one line, and its advice on another.
fn text(faults: &Faults) -> String {
    let lines = faults.0.iter().map(|fault| match &fault.help {
        Some(help) => format!("{}\n  help: {help}", fault.message),
        None => fault.message.clone(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Sets the attribute `faults` of an exception to the list of faults.
fn raised(error: PyErr, faults: &Faults) -> PyErr {
    let add = |py: Python<'_>| -> PyResult<()> {
        let list = faults.0.iter().map(|fault| {
            let place = fault.place.as_ref();
            Fault {
                message: fault.message.clone(),
                help: fault.help.clone(),
                file: place.map(|place| place.file.clone()),
                line: place.map(|place| place.line),
                column: place.map(|place| place.column),
            }
        });
        error.value(py).setattr("faults", list.collect::<Vec<_>>())
    };
    match Python::attach(add) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// One fault of the input, and its place.
#[pyclass(frozen, get_all, module = "tidegate")]
struct Fault {
    message: String,
    help: Option<String>,
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
}

#[pymethods]
impl Fault {
    fn __repr__(&self) -> String {
        format!("Fault({:?})", self.message)
    }
}
