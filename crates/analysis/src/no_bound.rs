// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Why nothing can be promised of some policies, whatever the workload: a sentence each,
//! without its full stop.

use tidegate_model::PolicyName;

use crate::rtio_slots;

/// Why no bound of this policy is known; none where its analysis has more to say.
pub(crate) const fn reason(policy: PolicyName) -> Option<&'static str> {
    Some(match policy {
        PolicyName::Noop => {
            "noop keeps sending while the drive is busy, so the drive may serve newer requests \
             first for as long as they come, and b(i) says nothing about that"
        }
        PolicyName::Satf => {
            "satf serves what is reached first, so a request far from the heads waits for as long \
             as nearer ones come; das keeps deadlines with the same knowledge"
        }
        PolicyName::Sstf => {
            "sstf serves what is nearest to the heads, so a request far away waits for as long as \
             nearer ones come"
        }
        PolicyName::Scan | PolicyName::CLook => {
            "requests that come at the position of the heads are served before those ahead of \
             them, for as long as they come, and no deadline changes the order"
        }
        PolicyName::GroupEdf => {
            "g-edf lets later deadlines of a group go first as long as they are smaller or nearer, \
             and nobody has proved how long that may go on"
        }
        PolicyName::RtioSlots => rtio_slots::NOT_SAFE,
        PolicyName::Deadline => {
            "deadline says when a request is sent, not when it is served: the drive stays full, \
             best effort ahead in the same queue"
        }
        PolicyName::Cfq => {
            "cfq is a model of heuristics: time slices of other sources, idling, and a drive that \
             others have filled; nobody has bounded it"
        }
        PolicyName::CfqGrouped => {
            "cfq-grouped keeps sending best effort while a real-time request waits on the drive, \
             so the drive may serve it last for as long as more comes"
        }
        PolicyName::MqDeadline => {
            "mq-deadline is a model: it drains the drive for its highest class, unless a lower \
             one has waited for 10 s, and nobody has bounded that"
        }
        PolicyName::BfqStrict => {
            "bfq-strict is a model: it guarantees shares of the drive, of which no bound on \
             response times is derived here"
        }
        PolicyName::TokenBucket | PolicyName::Mdn | PolicyName::MdnExtended => {
            "shaping best effort leaves the rest to noop, of which nothing can be promised; wrap \
             it round a policy with a bound instead: regulators = [..]"
        }
        PolicyName::Fifo
        | PolicyName::Das
        | PolicyName::Edf
        | PolicyName::ScanEdf
        | PolicyName::DqEdf
        | PolicyName::Rtio
        | PolicyName::RtioDrain
        | PolicyName::RtioLimit
        | PolicyName::RtioPriority
        | PolicyName::AdaptiveDrain
        | PolicyName::GatedDrain
        | PolicyName::Dqf
        | PolicyName::DqfElastic => return None,
    })
}
