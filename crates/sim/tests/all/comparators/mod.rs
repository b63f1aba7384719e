// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Experiments of the literature that compare Linux schedulers with this project's policies: an
//! overload of the pseudo-disk (dissertation 9.3.4), and a best-effort load of 450 outstanding
//! requests on the Fujitsu (RTAS'08 section 4). They print their tables and assert only how the
//! policies rank.

mod aging;
mod overload;
mod slopes;

use tidegate_drive::builtin;
use tidegate_model::Workload;
use tidegate_model::workload_file::WorkloadFile;

/// Returns a workload on a built-in drive, from the text of its file after the line that names the
/// drive.
fn workload_on(drive: &str, text: &str) -> Workload {
    let file = WorkloadFile::parse(&format!("drive = \"{drive}\"\n{text}")).unwrap();
    file.bind(&builtin::load(drive).unwrap()).unwrap()
}
