//! placeholder
use crate::{Answer, arguments::ProfileArguments, failure::Failure};
pub(crate) fn profile(_a: &ProfileArguments) -> Result<Answer, Failure> { Ok(Answer::No) }
