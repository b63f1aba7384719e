// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Why a thread cannot be assessed: the reason of the answer "not applicable".

use tidegate_cpu_model::ServerKind;
use tidegate_model::Duration;

/// An assumption of the analysis that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Objection {
    /// The workload has no task, and no work with a deadline.
    #[error(
        "nothing in the file has a deadline: add a [[cpu_task]], or a `deadline` to a [[cpu_work]]"
    )]
    NothingDue,
    /// A server whose execution is unbounded.
    #[error(
        "server `{server}` is {kind}, which may execute more than its budget in a period; \
         write kind = \"sporadic\""
    )]
    ServerUnbounded {
        /// The server's name.
        server: String,
        /// The server's kind.
        kind: ServerKind,
    },
    /// Work at a fixed priority, without a budget.
    #[error(
        "server `{server}` has no budget, so nothing limits its work; write kind = \"sporadic\", or \
         describe the work as a [[cpu_task]]"
    )]
    NoBudget {
        /// The server's name.
        server: String,
    },
    /// A deferrable server that can cause a context switch for every arrival.
    #[error(
        "server `{server}` is deferrable, so its number of switches is unbounded, and a switch costs \
         {switch}; write kind = \"sporadic\""
    )]
    SwitchesUnbounded {
        /// The server's name.
        server: String,
        /// The cost of one switch.
        switch: Duration,
    },
    /// A server that executes at the thread's urgency or above when it is out of budget.
    #[error(
        "server `{server}` executes without budget at its background priority; write \
         background = \"never\", or a lower one"
    )]
    Background {
        /// The server's name.
        server: String,
    },
    /// A server of a kind that has no analysis under EDF.
    #[error("there is no analysis of a {kind} server under edf; write kind = \"sporadic\"")]
    EdfServer {
        /// The server's kind.
        kind: ServerKind,
    },
    /// The arrivals are unbounded.
    #[error("`{work}` arrives at random, so the backlog of its server is unbounded")]
    ArrivalsUnbounded {
        /// The work's name.
        work: String,
    },
    /// The execution time of a job is unbounded.
    #[error("the execution times of `{work}` are random and have no upper bound")]
    ExecutionUnbounded {
        /// The work's name.
        work: String,
    },
    /// The server's rules bound its effect on others, not the supply of its work.
    #[error("there is no bound for work behind a {kind} server; write kind = \"sporadic\"")]
    SupplyUnknown {
        /// The server's kind.
        kind: ServerKind,
    },
    /// The server itself cannot be proven to get its budget in each period.
    #[error("server `{server}` cannot be proven to get its budget within each period")]
    ServerLate {
        /// The server's name.
        server: String,
    },
    /// Charges and overruns can use up the budget.
    #[error("charges and overruns may use up the whole budget of server `{server}`")]
    BudgetUsedUp {
        /// The server's name.
        server: String,
    },
    /// More jobs can wait than the server's queue has room for, so jobs can be rejected.
    #[error("more jobs may wait for server `{server}` than its queue of {queued_max} holds")]
    QueueTooShort {
        /// The server's name.
        server: String,
        /// The maximum number of jobs in its queue.
        queued_max: u32,
    },
}
