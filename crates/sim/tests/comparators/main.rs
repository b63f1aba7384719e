// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Experiments of the literature that compare Linux schedulers with this project's policies: an
//! overload of the pseudo-disk (dissertation 9.3.4), and best effort of 450 requests on the Fujitsu
//! (RTAS'08 section 4). They print their tables and assert only the order of the figures.

mod aging;
mod fujitsu;
mod overload;
mod slopes;
