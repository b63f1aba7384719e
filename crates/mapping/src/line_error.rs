// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Why a plan does not fit into a table line, and the limits of a line.

use crate::sign::Sign;

/// The levels of the real-time I/O class.
pub(crate) const LEVELS: u32 = 8;

/// The most contracts in a line.
pub(crate) const CONTRACTS_MAX: usize = 64;

/// The most bytes in the path of a cgroup (`TG_PATH_MAX` in `kernel/signs.h` without the final 0).
pub(crate) const PATH_MAX: usize = 223;

/// The most requests that one job of each task may have in total (`COUNT_MAX` in `kernel/keys.c`).
pub(crate) const REQUESTS_MAX: u32 = 4_096;

/// Why a plan does not fit into a table line: a sentence with the remedy, without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The target lacks the policy.
    #[error(
        "the kernel target has no policy `{policy}`: write `dqf`, `rtio-limit`, `adaptive-drain` or \
         `gated-drain` below [policy]"
    )]
    Policy {
        /// The policy's name.
        policy: &'static str,
    },
    /// The target lacks the order of best effort.
    #[error(
        "the kernel target has no order `{order}` of best effort: write `elevator` or `fifo` below [policy]"
    )]
    Order {
        /// The order's name.
        order: &'static str,
    },
    /// The target lacks the regulator.
    #[error(
        "the kernel target has no regulator `{regulator}`, only `tokens-per-task`: leave it out"
    )]
    Regulator {
        /// The regulator's name.
        regulator: &'static str,
    },
    /// The plan limits batches by cost.
    #[error("the kernel target does not limit batches by cost: state `batch` without a cost")]
    Cost,
    /// A task is not hard.
    #[error(
        "the kernel target serves every task as hard, and `{task}` is not: leave its class out"
    )]
    Class {
        /// The task.
        task: String,
    },
    /// Tasks that differ in period or deadline share a sign.
    #[error(
        "the kernel cannot tell `{one}` from `{other}`, which have different periods or deadlines: \
         both are known by {sign}; give one of them a unit of its own"
    )]
    OneSign {
        /// One of the tasks.
        one: String,
        /// Another of the tasks.
        other: String,
        /// The shared sign.
        sign: Sign,
    },
    /// There are more kinds of tasks than levels.
    #[error(
        "the tasks without a unit have more than {LEVELS} kinds of period and deadline, and the real-time \
         class has {LEVELS} levels: name the `unit` of some of them"
    )]
    Levels,
    /// The path of a cgroup is longer than a line allows.
    #[error(
        "a table line takes paths of cgroups of at most {PATH_MAX} bytes, and this is longer: {path}"
    )]
    Path {
        /// The path.
        path: String,
    },
    /// One job of each task has more requests in total than a line allows.
    #[error("a table line takes at most {REQUESTS_MAX} requests of one job of every task together")]
    Requests,
    /// There are more contracts than a line allows.
    #[error("a table line has at most {CONTRACTS_MAX} contracts")]
    Contracts,
}
