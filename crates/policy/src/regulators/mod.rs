// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Regulators: they say *when* a request may go, the policy that they wrap says *which*. A
//! regulator is a policy itself, so they stack.

use model::{Plan, RegulatorName};

use crate::{BuildError, Policy};

/// `policy` behind the regulator of that name.
pub(crate) fn wrap(
    name: RegulatorName,
    policy: Box<dyn Policy>,
    plan: &Plan,
) -> Result<Box<dyn Policy>, BuildError> {
    let _ = (policy, plan);
    Err(BuildError::RegulatorMissing { regulator: name })
}
