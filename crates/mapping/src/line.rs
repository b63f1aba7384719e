// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A proved plan as the table line of the kernel target (`kernel/keys.c`).

use std::fmt::Write as _;

use tidegate_model::{
    BatchTable, BestEffortOrder, Bytes, Class, Plan, PolicyName, RegulatorName, Task, Workload,
};

use crate::line_error::{CONTRACTS_MAX, LEVELS, LineError, PATH_MAX, REQUESTS_MAX};
use crate::sign::Sign;

/// The orders of best effort that the target supports.
const ORDERS: [BestEffortOrder; 2] = [BestEffortOrder::Fifo, BestEffortOrder::Elevator];

/// The contract of one task, or of several tasks that have the same sign, period and deadline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    /// The sign by which the kernel recognises the tasks' requests.
    pub sign: Sign,
    /// The level of the real-time I/O class, if the sign is a level.
    pub level: Option<u32>,
    /// The names of the tasks.
    pub tasks: Vec<String>,
    /// The tasks' period and deadline, in ns, and the requests that one job of each task has in
    /// total.
    period: u64,
    deadline: u64,
    requests: u32,
}

/// A table line, without its first sector, its length and its device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLine {
    text: String,
    contracts: Vec<Contract>,
}

impl TableLine {
    /// Writes a proved plan; `signs` has the sign of each task, and `level` is the first level that
    /// may be assigned. Tasks with the same period and deadline share a level
    /// (`docs/decisions/0043-kernel-target.md`).
    ///
    /// # Errors
    /// If the target cannot carry out the plan, or cannot tell tasks apart.
    ///
    /// # Panics
    /// If there is not one sign for each task.
    pub fn new(
        workload: &Workload,
        plan: &Plan,
        signs: &[Sign],
        level: u32,
    ) -> Result<Self, LineError> {
        assert_eq!(plan.tasks.len(), signs.len(), "each task has a sign");
        check(workload, plan)?;
        let contracts = contracts(plan, signs, level)?;
        let tokens = has_tokens(&plan.regulators);
        let mut text = format!(
            "policy {} order {} tokens {} depth {} batch {} fill {} best_effort {} sectors {}",
            workload.policy,
            plan.best_effort_order,
            u32::from(tokens),
            plan.depth,
            plan.batch_max,
            plan.best_effort_fill,
            plan.best_effort_depth,
            sectors_max(workload),
        );
        write_table(&mut text, "times", Some(&plan.table));
        write_table(&mut text, "drains", plan.contracts.drain.as_ref());
        for contract in &contracts {
            write_task(&mut text, contract);
        }
        for (index, contract) in contracts.iter().enumerate() {
            write_sign(&mut text, index, &contract.sign);
        }
        Ok(Self { text, contracts })
    }

    /// Returns the line's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the contracts, in the order of the line.
    pub fn contracts(&self) -> &[Contract] {
        &self.contracts
    }

    /// Returns the table of a mapping of this many sectors to a device, from its first sector on.
    pub fn table(&self, device: &str, sectors: u64) -> String {
        format!("0 {sectors} tidegate {device} 0 {}", self.text)
    }
}

/// Returns whether the target supports this policy.
fn is_in_target(policy: PolicyName) -> bool {
    match policy {
        PolicyName::Dqf
        | PolicyName::RtioLimit
        | PolicyName::AdaptiveDrain
        | PolicyName::GatedDrain => true,
        PolicyName::Noop
        | PolicyName::Fifo
        | PolicyName::Sstf
        | PolicyName::Scan
        | PolicyName::CLook
        | PolicyName::Satf
        | PolicyName::Das
        | PolicyName::Edf
        | PolicyName::ScanEdf
        | PolicyName::GroupEdf
        | PolicyName::DqEdf
        | PolicyName::Rtio
        | PolicyName::RtioDrain
        | PolicyName::RtioSlots
        | PolicyName::RtioPriority
        | PolicyName::DqfElastic
        | PolicyName::TokenBucket
        | PolicyName::Mdn
        | PolicyName::MdnExtended
        | PolicyName::Deadline
        | PolicyName::DeadlineDrain
        | PolicyName::Cfq
        | PolicyName::CfqGrouped
        | PolicyName::MqDeadline
        | PolicyName::MqDeadlineTuned
        | PolicyName::BfqStrict => false,
    }
}

/// Returns whether one of the regulators uses tokens to keep each task to its contract.
pub fn has_tokens(regulators: &[RegulatorName]) -> bool {
    regulators.iter().any(|&name| is_token(name))
}

fn is_token(name: RegulatorName) -> bool {
    match name {
        RegulatorName::TokensPerTask => true,
        RegulatorName::DepthLimit
        | RegulatorName::TokenBucket
        | RegulatorName::Mdn
        | RegulatorName::MdnExtended => false,
    }
}

fn check(workload: &Workload, plan: &Plan) -> Result<(), LineError> {
    if !is_in_target(workload.policy) {
        return Err(LineError::Policy { policy: workload.policy.name() });
    }
    if !ORDERS.contains(&plan.best_effort_order) {
        return Err(LineError::Order { order: plan.best_effort_order.name() });
    }
    let other = plan.regulators.iter().find(|&&name| !is_token(name));
    if let Some(regulator) = other {
        return Err(LineError::Regulator { regulator: regulator.name() });
    }
    if plan.batch_cost.is_some() {
        return Err(LineError::Cost);
    }
    let other = plan.tasks.iter().find(|task| task.class != Class::Hard);
    other.map_or(Ok(()), |task| Err(LineError::Class { task: task.name.clone() }))
}

fn contracts(plan: &Plan, signs: &[Sign], first: u32) -> Result<Vec<Contract>, LineError> {
    let mut contracts: Vec<Contract> = Vec::new();
    let mut levels = first..LEVELS;
    for (task, sign) in plan.tasks.iter().zip(signs) {
        let is_same = |it: &&mut Contract| it.sign == *sign && it.is_like(task);
        if let Some(contract) = contracts.iter_mut().find(is_same) {
            contract.tasks.push(task.name.clone());
            contract.requests = contract.requests.saturating_add(task.requests);
            continue;
        }
        if let Some(other) = contracts.iter().find(|it| it.sign.clashes_with(sign)) {
            let (one, other) = (task.name.clone(), other.tasks[0].clone());
            return Err(LineError::OneSign { one, other, sign: sign.clone() });
        }
        if let Some(path) = sign.path().filter(|path| path.len() > PATH_MAX) {
            return Err(LineError::Path { path: path.to_owned() });
        }
        let level = match sign {
            Sign::Level => Some(levels.next().ok_or(LineError::Levels)?),
            Sign::Cgroup(_) | Sign::Place { .. } => None,
        };
        contracts.push(Contract {
            sign: sign.clone(),
            level,
            tasks: vec![task.name.clone()],
            period: task.period.ns(),
            deadline: task.deadline.ns(),
            requests: task.requests,
        });
    }
    if contracts.len() > CONTRACTS_MAX {
        return Err(LineError::Contracts);
    }
    let requests = contracts.iter().map(|contract| contract.requests);
    if requests.fold(0, u32::saturating_add) > REQUESTS_MAX {
        return Err(LineError::Requests);
    }
    Ok(contracts)
}

impl Contract {
    /// Returns whether the task has this period and this deadline.
    fn is_like(&self, task: &Task) -> bool {
        (self.period, self.deadline) == (task.period.ns(), task.deadline.ns())
    }
}

fn sectors_max(workload: &Workload) -> u64 {
    let tasks = workload.tasks.iter().map(|task| task.size);
    let sizes = tasks.chain(workload.best_effort.iter().map(|load| load.size));
    sizes.map(Bytes::sectors_ceil).max().unwrap_or(1)
}

fn write_table(line: &mut String, key: &str, table: Option<&BatchTable>) {
    let count = table.map_or(0, BatchTable::batch_max);
    let times = (1..=count).filter_map(|n| Some(table?.time_max(n).ns().to_string()));
    let words: Vec<String> = [count.to_string()].into_iter().chain(times).collect();
    write!(line, " {key} {}", words.join(" ")).expect("a string grows");
}

fn write_task(line: &mut String, contract: &Contract) {
    let Contract { period, deadline, requests, .. } = contract;
    let level = contract.level.map_or("-".to_owned(), |level| level.to_string());
    write!(line, " task {level} {period} {deadline} {requests}").expect("a string grows");
}

fn write_sign(line: &mut String, index: usize, sign: &Sign) {
    let written = match sign {
        Sign::Level => Ok(()),
        Sign::Cgroup(path) => write!(line, " cgroup {index} {path}"),
        Sign::Place { first, count } => write!(line, " place {index} {first} {count}"),
    };
    written.expect("a string grows");
}
