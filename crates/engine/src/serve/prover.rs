// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Proves sets of exports by the rules of a serve file: at the start, and for every change of the
//! set.

use tidegate_analysis::fit::up_to_us;
use tidegate_analysis::{Answer, Assessment, assess};
use tidegate_model::BestEffortOrder::{Elevator, Fifo, Nearest, Satf};
use tidegate_model::measurement;
use tidegate_model::serve_file::{BackingReference, Bound, Layout};
use tidegate_model::{
    BatchTable, Bytes, DriveFile, Duration, ExportSpec, FileError, NewExport, Plan, PolicyName,
    Premises, ServeFile, Workload,
};

use super::fit::{Proved, Search};
use crate::service::{Arrangement, Prover, Refusal};

/// The depth assumed for a store about which nothing is known.
const DEPTH_DEFAULT: u32 = 32;

/// The number of best-effort requests among which a policy that orders by position can choose.
const POSITIONS_WINDOW: u32 = 512;

/// The number of best-effort requests among which the order of a plan chooses. An order by position
/// reaches most of its gain with 64 requests. With a larger window, more requests of one export
/// could overtake requests of another ([`crate::service::shares`]).
const ORDER_WINDOW: u32 = 64;

/// The rules of a serve file, applied to other sets of exports.
#[derive(Debug)]
pub(super) struct FileProver {
    pub(super) file: ServeFile,
    pub(super) drive: Option<DriveFile>,
    pub(super) layout: Layout,
    /// Whether the store is open for writing.
    pub(super) is_written: bool,
}

impl Prover for FileProver {
    fn place(&self, others: &[ExportSpec], new: &NewExport) -> Result<ExportSpec, Refusal> {
        let is_read_only = new.is_read_only || self.file.is_read_only;
        let new = NewExport { is_read_only, ..new.clone() };
        new.check().map_err(refusal)?;
        if !new.is_read_only && !self.is_written {
            return Err(Refusal::new(
                "the store is open for reading only, because no export wrote to it at the start",
                "add read_only = true; or add the export to the serve file and restart the service",
            ));
        }
        self.layout.place_new(others, &new).map_err(refusal)
    }

    fn prove(
        &self,
        exports: &[ExportSpec],
        newcomer: Option<usize>,
    ) -> Result<Arrangement, Refusal> {
        if exports.is_empty() {
            return Ok(Arrangement::of_nobody());
        }
        let is_promised = exports.iter().any(ExportSpec::is_promised);
        let Some(drive) = &self.drive else {
            if exports.iter().any(ExportSpec::is_real_time) {
                let contracts = exports.iter().filter_map(|export| export.contract.as_ref());
                let size = contracts.map(|contract| contract.size_max).max();
                let size = size.unwrap_or(Bytes::from_kib(128));
                let advice = measurement::of_store(size, self.is_written);
                let advice = match &self.file.backing {
                    BackingReference::Path(path) => advice.replace("TARGET", path.get_ref()),
                    BackingReference::Simulated { .. } => advice,
                };
                return Err(Refusal::new(
                    "contracts and soft exports need the drive's measured times, and no drive is named",
                    format!("{advice} to the serve file; then restart the service"),
                ));
            }
            return Ok(unknown_store());
        };
        let file = self.file.with_exports(exports);
        file.check_streams().map_err(refusal)?;
        let bound = bind(&file, drive).map_err(refusal)?;
        let assessment = assess(&bound.workload, bound.workload.policy);
        if is_promised && assessment.answer != Answer::Proven {
            return Err(Refusal {
                reason: reason(&bound.workload, &assessment),
                would_fit: newcomer
                    .map_or_else(Vec::new, |index| self.search().of_newcomer(exports, index)),
                help: "reduce the contract, or remove another export first".to_owned(),
            });
        }
        Ok(arrangement(&bound.workload, &assessment, exports))
    }
}

impl FileProver {
    /// Starts a search for similar exports that would be proved.
    pub(super) fn search(&self) -> Search<impl Fn(&[ExportSpec]) -> Option<Proved>> {
        Search::new(|exports: &[ExportSpec]| self.proved(exports))
    }

    /// Proves the exports; `None` if they form no valid set or the drive is unknown.
    fn proved(&self, exports: &[ExportSpec]) -> Option<Proved> {
        let bound = bind(&self.file.with_exports(exports), self.drive.as_ref()?).ok()?;
        let assessment = assess(&bound.workload, bound.workload.policy);
        let with_contract = (0..exports.len()).filter(|&index| exports[index].contract.is_some());
        let assessed = with_contract.zip(&assessment.tasks);
        let late = assessed.filter(|(_, task)| !task.is_deadline_met).map(|(index, _)| index);
        let late = late.collect();
        Some(Proved { bounds: bounds(&assessment, exports), late, answer: assessment.answer })
    }
}

/// Returns the workload to prove on this drive, with the service times that its mechanics predict.
///
/// # Errors
/// The same as [`ServeFile::bind`].
pub(super) fn bind(file: &ServeFile, drive: &DriveFile) -> Result<Bound, FileError> {
    let bound = file.bind(drive)?;
    Ok(Bound { workload: tidegate_drive::with_prediction(bound.workload, drive), ..bound })
}

fn refusal(error: FileError) -> Refusal {
    Refusal::new(error.message, error.help.unwrap_or_default())
}

/// Describes the contracts that would not be kept.
fn reason(workload: &Workload, assessment: &Assessment) -> String {
    if let Answer::NotApplicable { reason } = assessment.answer {
        return format!("`{}`: {reason}", assessment.policy.name());
    }
    if let Some(void) = assessment.premises.void() {
        return void.text.clone();
    }
    let tasks = workload.tasks.iter().zip(&assessment.tasks);
    let late = tasks.filter(|(_, assessed)| !assessed.is_deadline_met);
    let late = late.map(|(task, assessed)| match assessed.response_max {
        Some((response, _)) => format!(
            "`{}` would have a bound of {}, above its deadline of {}",
            task.name,
            up_to_us(response),
            task.deadline
        ),
        None => format!("no bound is known for `{}`", task.name),
    });
    late.collect::<Vec<_>>().join("; ")
}

/// Makes the arrangement of the exports; its tasks are the exports with a contract, in order.
pub(crate) fn arrangement(
    workload: &Workload,
    assessment: &Assessment,
    exports: &[ExportSpec],
) -> Arrangement {
    let plan = assessment.tolerant_plan(workload);
    let window = window_of(workload, &plan);
    // Without a hard contract, nothing was proved about this store and this load: the assessment
    // charges no flushes, and counts streams without figures as best effort.
    let (bounds, premises) = if exports.iter().any(ExportSpec::is_promised) {
        (bounds(assessment, exports), assessment.premises.clone())
    } else {
        (vec![None; exports.len()], Premises::default())
    };
    Arrangement { policy: workload.policy, plan, bounds, premises, window }
}

/// Returns the bound of each export.
fn bounds(assessment: &Assessment, exports: &[ExportSpec]) -> Vec<Option<Duration>> {
    let mut proved = assessment.tasks.iter().map(|task| task.response_max);
    let bound = |export: &ExportSpec| {
        export.contract.as_ref().and_then(|_| proved.next()?).map(|(response, _)| response)
    };
    exports.iter().map(bound).collect()
}

/// Returns the number of best-effort requests that the policy can choose from at the same time.
fn window_of(workload: &Workload, plan: &Plan) -> u32 {
    let facts = workload.policy.facts();
    if facts.wants_choice {
        return POSITIONS_WINDOW;
    }
    let order = if facts.best_effort.has_order() { plan.best_effort_order } else { Fifo };
    match order {
        Fifo => 2 * plan.depth,
        Elevator | Nearest | Satf => ORDER_WINDOW.max(2 * plan.depth),
    }
}

/// Makes the arrangement for a store about which nothing is known, with a depth that most stores
/// accept.
pub(super) fn unknown_store() -> Arrangement {
    let times = vec![Duration::from_ms(1_000); DEPTH_DEFAULT as usize];
    let table = BatchTable::new(&times).expect("a table of one time");
    let plan = Plan::of(&Workload::new("nothing known", DEPTH_DEFAULT, table));
    let window = 2 * plan.depth;
    let premises = Premises::default();
    Arrangement { policy: PolicyName::Noop, plan, bounds: Vec::new(), premises, window }
}
