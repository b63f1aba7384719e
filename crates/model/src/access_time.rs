// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a host may know of a drive's positions: the seam between policies that order by
//! access time and the drive models that can tell it.

use std::fmt;

/// How long a drive takes to reach a request.
pub trait AccessTime: fmt::Debug + Send {}
