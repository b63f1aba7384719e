// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Regulators: they say *when* a request may go, the policy that they wrap says *which*. A
//! regulator is a policy itself, so they stack.

mod depth_limit;
mod tokens_per_task;

use model::{Plan, RegulatorName};

use crate::{BuildError, Policy};

pub use depth_limit::DepthLimit;
pub use tokens_per_task::TokensPerTask;

/// `policy` behind the regulator of that name.
pub(crate) fn wrap(
    name: RegulatorName,
    policy: Box<dyn Policy>,
    plan: &Plan,
) -> Result<Box<dyn Policy>, BuildError> {
    Ok(match name {
        RegulatorName::DepthLimit => Box::new(DepthLimit::new(policy, plan)),
        RegulatorName::TokensPerTask => Box::new(TokensPerTask::new(policy, plan)),
        regulator => return Err(BuildError::RegulatorMissing { regulator }),
    })
}
