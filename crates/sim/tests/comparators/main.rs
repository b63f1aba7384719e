// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Experiments of the literature in which Linux schedulers stand beside ours: an overload of
//! the pseudo-disk (dissertation 9.3.4), and best effort of 450 requests on the Fujitsu
//! (RTAS'08 section 4). They print their tables; what is asserted is the order of things.

mod aging;
mod fujitsu;
mod overload;
mod slopes;
