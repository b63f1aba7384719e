// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the policies that use the positions of requests.

mod by_position;
mod das;
