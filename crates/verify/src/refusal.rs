// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reasons why a certificate is refused.

/// A fault of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The certificate has another version of the format.
    #[error("the certificate has format {found}; this program checks format 1")]
    Version {
        /// The version in the certificate.
        found: u32,
    },
    /// This crate checks no theorem for the policy.
    #[error("no check exists for the policy `{policy}`")]
    Policy {
        /// The policy's name.
        policy: String,
    },
    /// z, beta and the table are inconsistent.
    #[error(
        "z = {batch} needs a table of as many batch times that never decrease, below 146 years, and beta at most z"
    )]
    Table {
        /// The stated z.
        batch: u64,
    },
    /// The drain times do not fit the policy or the tasks.
    #[error(
        "the drain times must belong to `gated-drain`, never decrease, stay below 146 years, and cover the {requests} requests that the tasks can release together"
    )]
    Drain {
        /// The number of requests that the tasks can release together.
        requests: u128,
    },
    /// A task lacks a cost, or a cost exceeds the limits of this check.
    #[error("a task has no cost, or a cost is beyond all limits")]
    Costs,
    /// A task has no period or no requests, or one of them exceeds the limits of this check.
    #[error("task `{task}` has no period or no request, or one beyond all limits")]
    Task {
        /// The task's name.
        task: String,
    },
    /// More requests are released in the stated busy interval than fit into its batches.
    #[error(
        "the window of {batches} batches does not close: the tasks release {released} requests in it"
    )]
    WindowOpen {
        /// The stated x.
        batches: u64,
        /// The number of requests that can be released in the busy interval.
        released: u128,
    },
    /// A step of the backlog bound is wrong.
    #[error("the step for jobs of {requests} requests is wrong: {what}")]
    Step {
        /// e, the number of requests of a job.
        requests: u64,
        /// The fault of the step.
        what: StepFault,
    },
    /// No theorem supports the stated bound.
    #[error("no theorem bounds the response of task `{task}`")]
    NoArgument {
        /// The task's name.
        task: String,
    },
    /// The stated bound is below the least bound that the theorems give.
    #[error(
        "task `{task}` is stated to respond within {stated_ns} ns, but the theorems give {bound_ns} ns"
    )]
    BelowBound {
        /// The task's name.
        task: String,
        /// The stated bound.
        stated_ns: u128,
        /// The smallest bound that the theorems prove.
        bound_ns: u128,
    },
    /// The stated bound exceeds the deadline.
    #[error("the bound of task `{task}` exceeds its deadline")]
    DeadlineMissed {
        /// The task's name.
        task: String,
    },
    /// The contract at the client does not follow from the contract that the policy sees.
    #[error("the contract of task `{task}` at its client does not follow from the host's time")]
    Client {
        /// The task's name.
        task: String,
    },
    /// A file is not the one that the certificate names.
    #[error("`{name}` has SHA-256 {found}, but the certificate is about {stated}")]
    OtherFile {
        /// The file's name.
        name: String,
        /// The file's hash.
        found: String,
        /// The hash in the certificate.
        stated: String,
    },
    /// The certificate's numbers are not those of the files.
    #[error("the numbers are not those of the files: {what}")]
    OtherNumbers {
        /// The first number that differs.
        what: String,
    },
    /// A drive file was given, but the drive is in the workload file.
    #[error("the certificate names no drive file: the workload file holds the drive")]
    NoDriveFile,
}

/// A fault in a step of the backlog bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepFault {
    /// A task has no step, or a step belongs to no task.
    #[error("the steps are not those of the tasks")]
    Tasks,
    /// The stated sizes of the batch in flight lack a size that the tasks can form, or include one
    /// that is too large.
    #[error("the sizes of the batch in flight are not those that the tasks can form")]
    CarryIns,
    /// The stated batches or their sum do not follow from the stated batch in flight.
    #[error("the sum is not that of its batches")]
    Sum,
    /// Another size of the batch in flight gives a longer wait.
    #[error("another size of the batch in flight gives a longer wait")]
    NotLongest,
}
