// SPDX-License-Identifier: Apache-2.0 OR MIT
//! priority(q): the longest time of q requests with the drive's own priority, sent together
//! to a device that has no other of that priority and that others keep full.
//!
//! ```text
//!   others   K ____      ____________________ K
//!                  \____/  each that is back is replaced by one without priority
//!                  K - q
//!   priority         q sent -----------------> all q back
//! ```

use rand_pcg::Pcg64;
use tidegate_model::{Duration, Tag};

use crate::flow::{self, Flow};
use crate::places::Places;
use crate::subject::{Probe, Subject, SubjectError};

/// One time of q requests of priority on a device of depth `depth`, `1 <= q <= depth`.
pub(crate) fn sample(
    subject: &mut dyn Subject,
    places: Places,
    depth: u32,
    q: u32,
    random: &mut Pcg64,
) -> Result<Duration, SubjectError> {
    let mut flow = Flow::on(subject);
    flow.keep(depth, flow::length(depth, random), || places.anywhere(random))?;
    flow.recede_to(depth - q)?;
    // Several may have come back at once: the device is full again before the priority.
    flow.fill(depth - q, || places.anywhere(random))?;
    let begun = flow.now();
    let mut awaited: Vec<Probe> = flow.send(q, Tag::Priority, || places.anywhere(random))?.to_vec();
    while !awaited.is_empty() {
        let returned = flow.wait()?;
        awaited.retain(|probe| !returned.contains(&probe.start));
        if !awaited.is_empty() {
            flow.fill(depth, || places.anywhere(random))?;
        }
    }
    let took = flow.now().since(begun);
    flow.drain()?;
    Ok(took)
}
