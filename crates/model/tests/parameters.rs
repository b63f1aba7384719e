// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters of policies in workload files.

use model::parameters::DasParameters;
use model::workload_file::WorkloadFile;
use model::{DriveFile, Duration, FileError, Parameters};

const DRIVE: &str = "name = \"test drive\"\nkind = \"pseudo\"\ndepth = 1\n\
                     [[batch]]\nop = \"read\"\nsize = \"4KiB\"\nns_max = [5_000_000]\n";

/// The parameters of a file with this `[policy]`.
fn parameters(policy: &str) -> Result<Parameters, FileError> {
    let source = "[[task]]\nname = \"camera\"\nperiod = \"300ms\"\nsize = \"4KiB\"\n";
    let text = format!("drive = \"test drive\"\n{policy}{source}");
    let drive = DriveFile::parse(DRIVE)?;
    Ok(WorkloadFile::parse(&text)?.bind(&drive)?.parameters)
}

#[test]
fn what_is_not_said_has_its_default() {
    assert_eq!(parameters("").unwrap(), Parameters::default());
    assert_eq!(parameters("[policy]\nname = \"das\"\n").unwrap(), Parameters::default());
    let empty = parameters("[policy]\nname = \"das\"\n[policy.das]\n").unwrap();
    assert_eq!(empty.das, DasParameters { margin: Duration::ZERO });
}

#[test]
fn margin_of_das_is_read() {
    let read = parameters("[policy]\nname = \"das\"\ndas.margin = \"1ms\"\n").unwrap();
    assert_eq!(read.das, DasParameters { margin: Duration::from_ms(1) });
}

#[test]
fn what_das_does_not_know_is_refused() {
    assert!(parameters("[policy]\nname = \"das\"\ndas.margins = \"1ms\"\n").is_err());
    assert!(parameters("[policy]\nname = \"das\"\ndas.margin = 1\n").is_err());
}
