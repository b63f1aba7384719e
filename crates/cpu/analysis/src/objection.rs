// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Why nothing can be said of a thread: the third answer.

use tidegate_cpu_model::ServerKind;
use tidegate_model::Duration;

/// An assumption that fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Objection {
    /// There is no task, and no work with a deadline.
    #[error(
        "nothing in the file has a deadline: add a [[cpu_task]], or a `deadline` to a [[cpu_work]]"
    )]
    NothingDue,
    /// A server whose execution nothing bounds.
    #[error(
        "server `{server}` is {kind}, which may execute more than its budget in a period; \
         write kind = \"sporadic\""
    )]
    ServerUnbounded {
        /// Its name.
        server: String,
        /// Its rules.
        kind: ServerKind,
    },
    /// A deferrable server that may switch for every arrival.
    #[error(
        "server `{server}` is deferrable: nothing bounds how often it switches, and a switch costs \
         {switch}; write kind = \"sporadic\""
    )]
    SwitchesUnbounded {
        /// Its name.
        server: String,
        /// The cost of one.
        switch: Duration,
    },
    /// A server that executes without budget as urgently as the thread.
    #[error(
        "server `{server}` executes without budget at its background priority; write \
         background = \"never\", or a lower one"
    )]
    Background {
        /// Its name.
        server: String,
    },
    /// No analysis of such a server under EDF.
    #[error("there is no analysis of a {kind} server under edf; write kind = \"sporadic\"")]
    EdfServer {
        /// Its rules.
        kind: ServerKind,
    },
    /// Nothing bounds what arrives.
    #[error("`{work}` arrives at random, so nothing bounds how much waits for its server")]
    ArrivalsUnbounded {
        /// The work's name.
        work: String,
    },
    /// Nothing bounds how long one job executes.
    #[error("the execution times of `{work}` are random and have no upper bound")]
    ExecutionUnbounded {
        /// The work's name.
        work: String,
    },
    /// The server's rules bound what others suffer, not what its work gets.
    #[error("there is no bound for work behind a {kind} server; write kind = \"sporadic\"")]
    SupplyUnknown {
        /// Its rules.
        kind: ServerKind,
    },
    /// The server itself may not get its budget in each period.
    #[error("server `{server}` cannot be proved to get its budget within each period")]
    ServerLate {
        /// Its name.
        server: String,
    },
    /// Charges and overruns may use up the budget.
    #[error("charges and overruns may use up the whole budget of server `{server}`")]
    BudgetUsedUp {
        /// Its name.
        server: String,
    },
    /// Jobs may be turned away.
    #[error("more jobs may wait for server `{server}` than its queue of {queued_max} holds")]
    QueueTooShort {
        /// Its name.
        server: String,
        /// What it holds.
        queued_max: u32,
    },
}
