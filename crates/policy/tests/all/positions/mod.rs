// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the policies that know positions.

mod by_position;
mod das;
