// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Regulators decide *when* a request may be sent; the policy that they wrap decides *which*. A
//! regulator is itself a policy, so regulators stack.

mod bucket;
mod depth_limit;
mod device_time;
mod lane;
mod mdn;
mod meter;
mod miss_reports;
mod periodic;
mod reserve;
mod token_bucket;
mod tokens_per_task;
mod traced;

use tidegate_model::{Plan, RegulatorName};

use crate::Policy;

pub use depth_limit::DepthLimit;
use mdn::Form;
use token_bucket::TokenBucket;
pub use tokens_per_task::TokensPerTask;

/// Returns `policy` wrapped in the regulator with this name.
pub(crate) fn wrap(name: RegulatorName, policy: Box<dyn Policy>, plan: &Plan) -> Box<dyn Policy> {
    match name {
        RegulatorName::DepthLimit => Box::new(DepthLimit::new(policy, plan)),
        RegulatorName::TokensPerTask => Box::new(TokensPerTask::new(policy, plan)),
        RegulatorName::TokenBucket => Box::new(TokenBucket::fixed(policy, plan)),
        RegulatorName::Mdn => Box::new(TokenBucket::steered(policy, plan, Form::Base)),
        RegulatorName::MdnExtended => Box::new(TokenBucket::steered(policy, plan, Form::Extended)),
    }
}
