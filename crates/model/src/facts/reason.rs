// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reasons why some policies have no bound for any workload: one sentence each, without its
//! full stop.

/// Why `noop` has no bound.
pub(crate) const NOOP: &str = "noop keeps sending while the drive is busy, so the drive may serve newer requests \
    first as long as they come, and b(i) does not bound that";

/// Why `satf` has no bound.
pub(crate) const SATF: &str = "satf serves the request that is reached first, so a request far from the heads waits as long \
    as nearer ones come; das keeps deadlines with the same knowledge";

/// Why `sstf` has no bound.
pub(crate) const SSTF: &str = "sstf serves the request nearest to the heads, so a request far away waits as long as \
    nearer ones come";

/// Why `scan` and `c-look` have no bound.
pub(crate) const ELEVATOR: &str = "requests that come at the position of the heads are served before those ahead of \
    them, as long as they come, and no deadline changes the order";

/// Why `g-edf` has no bound.
pub(crate) const GROUP_EDF: &str = "g-edf lets later deadlines of a group go first as long as they are smaller or nearer, \
    and no proof bounds how long that may continue";

/// Why `deadline` has no bound.
pub(crate) const DEADLINE: &str = "deadline says when a request is sent, not when it is served: the drive stays full, \
    with best effort ahead in the same queue";

/// Why `deadline-drain` has no bound.
pub(crate) const DEADLINE_DRAIN: &str = "deadline-drain bounds the time on the drive, not in the queue: best effort is ahead \
    in the same queue";

/// Why `cfq` has no bound.
pub(crate) const CFQ: &str = "cfq is a model of heuristics: time slices of other sources, idling, and a drive that \
    others have filled; no bound is known";

/// Why `cfq-grouped` has no bound.
pub(crate) const CFQ_GROUPED: &str = "cfq-grouped keeps sending best effort while a real-time request waits on the drive, \
    so the drive may serve it last as long as more best effort comes";

/// Why `mq-deadline` has no bound.
pub(crate) const MQ_DEADLINE: &str = "mq-deadline is a model: it drains the drive for its highest class, unless a lower \
    one has waited for 10 s, and no bound is known";

/// Why `bfq-strict` has no bound.
pub(crate) const BFQ_STRICT: &str = "bfq-strict is a model: it guarantees shares of the drive, and no bound on \
    response times is derived from them here";

/// Why `token-bucket`, `mdn` and `mdn-extended` have no bound.
pub(crate) const SHAPED: &str = "shaping best effort leaves the other requests to noop, which has no bound; wrap \
    the shaper round a policy with a bound instead: regulators = [..]";

/// Why `rtio-slots` has no bound. It is easy to construct drives on which the rule misses
/// deadlines: `tidegate_soundness::black_box`.
pub(crate) const RTIO_SLOTS: &str = "reserved slots do not follow from the drain table: a real-time request that takes \
    its slot late restarts the drain of the requests on the drive, so deadlines can be missed (RTAS'08 \
    section 5 is preliminary); use gated-drain, or, on a device that serves one request at a time without \
    preemption, (o+u) b(1) in place of drain(o+u)";
