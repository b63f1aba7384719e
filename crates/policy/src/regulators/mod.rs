// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Regulators: they say *when* a request may go, the policy that they wrap says *which*. A
//! regulator is a policy itself, so they stack.

mod bucket;
mod lane;
mod mdn;
mod meter;
mod periodic;
mod reserve;
mod token_bucket;
mod traced;
mod witness;

use model::{Plan, RegulatorName};

use crate::{BuildError, Policy};

use mdn::Form;
use token_bucket::TokenBucket;

/// `policy` behind the regulator of that name.
pub(crate) fn wrap(
    name: RegulatorName,
    policy: Box<dyn Policy>,
    plan: &Plan,
) -> Result<Box<dyn Policy>, BuildError> {
    Ok(match name {
        RegulatorName::TokenBucket => Box::new(TokenBucket::fixed(policy, plan)),
        RegulatorName::Mdn => Box::new(TokenBucket::steered(policy, plan, Form::Base)),
        RegulatorName::MdnExtended => Box::new(TokenBucket::steered(policy, plan, Form::Extended)),
        regulator => return Err(BuildError::RegulatorMissing { regulator }),
    })
}
