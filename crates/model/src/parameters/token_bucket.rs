// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Traffic shaping of best effort: `[policy.token-bucket]`, `[policy.mdn]` and
//! `[policy.mdn-extended]`.
//!
//! The unit of a rate determines what a token is: a request (`"100/s"`), a byte (`"8MB/s"`), or a
//! nanosecond of device time (`"50%"`). A burst is a duration: the bucket holds the tokens that
//! arrive in it, so a burst scales with the rate and needs no other unit.

use serde::{Deserialize, Deserializer};

use crate::quantity::{Quantity, Share};
use crate::units::{Bandwidth, Duration};

/// The meaning of one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenUnit {
    /// A request of any size (Wu and Brandt, section 3).
    Request,
    /// One byte.
    Byte,
    /// A nanosecond of device time; a request is charged b(z)/z, or less if requests differ.
    DeviceTime,
}

/// Tokens per second, at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenRate {
    /// The meaning of one token.
    pub unit: TokenUnit,
    /// Number of tokens that arrive each second, at least 1.
    pub per_s: u64,
}

impl TokenRate {
    const fn new(unit: TokenUnit, per_s: u64) -> Self {
        Self { unit, per_s }
    }
}

impl Quantity for TokenRate {
    const WHAT: &'static str = "a rate of tokens";
    const EXAMPLE: &'static str = "\"100/s\" for requests, \"8MB/s\" or \"50%\" of the device time";
    const UNITS: &'static [&'static str] =
        &["/s", "%", "B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "kB/s", "KB/s", "MB/s", "GB/s"];

    fn read(text: &str) -> Result<Self, String> {
        let count = text.strip_suffix("/s").map(str::trim);
        let count = count.filter(|count| count.ends_with(|last: char| last.is_ascii_digit()));
        let rate = if text.ends_with('%') {
            // One part per million of a second is a thousand nanoseconds.
            Self::new(TokenUnit::DeviceTime, u64::from(Share::read(text)?.ppm) * 1_000)
        } else if let Some(count) = count {
            let count = count.parse().map_err(|_| "it is not a whole number".to_owned())?;
            Self::new(TokenUnit::Request, count)
        } else {
            Self::new(TokenUnit::Byte, Bandwidth::read(text)?.bytes_per_s())
        };
        if rate.per_s == 0 {
            Err("it is zero, so no request would ever be sent".to_owned())
        } else {
            Ok(rate)
        }
    }
}

impl<'de> Deserialize<'de> for TokenRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::quantity::deserialize(deserializer)
    }
}

/// The rate at which best effort may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BestEffortRate {
    /// This rate, independent of the tasks.
    Fixed(TokenRate),
    /// Best effort gets the rest when the declared tasks' share is subtracted from `capacity` or,
    /// without a capacity, from the device time that b(z) charges.
    Reserve {
        /// The total rate of the device.
        capacity: Option<Bandwidth>,
    },
}

/// The parameters that all kinds of shaping share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shaping {
    /// The bucket holds the tokens that arrive in this time, and always enough for one request. Key
    /// `burst`, default 100 ms.
    pub burst: Duration,
    /// A separate rate for best-effort writes, which otherwise share the rate of reads. Key
    /// `write_rate`.
    pub write_rate: Option<TokenRate>,
    /// A rate for interactive requests, which otherwise pass immediately. Key `interactive_rate`.
    pub interactive_rate: Option<TokenRate>,
    /// Whether periodic streams of best effort are detected and treated as soft real time. Key
    /// `detect`, default false.
    pub is_detecting: bool,
}

impl Default for Shaping {
    fn default() -> Self {
        Self {
            burst: Duration::from_ms(100),
            write_rate: None,
            interactive_rate: None,
            is_detecting: false,
        }
    }
}

/// `[policy.token-bucket]`: best effort at a fixed rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawTokenBucket")]
pub struct TokenBucketParameters {
    /// Key `rate`, a rate or `"reserve"`; the default is `"reserve"` without `capacity`.
    pub rate: BestEffortRate,
    /// The parameters that all kinds of shaping share.
    pub shaping: Shaping,
}

impl Default for TokenBucketParameters {
    fn default() -> Self {
        Self { rate: BestEffortRate::Reserve { capacity: None }, shaping: Shaping::default() }
    }
}

/// `[policy.mdn]` and `[policy.mdn-extended]`: best effort at a rate that missed-deadline notices
/// control. The defaults fill in values that the paper does not give.
///
/// # Invariants
/// - `increase` and `rate_min` have the same unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawMdn")]
pub struct MdnParameters {
    /// The share of the rate that a notice takes away, in parts per million. Key `decrease`,
    /// default 25 %.
    pub decrease_ppm: u32,
    /// The increase of the rate after each `interval`, in the rate's unit. Key `increase`, default
    /// as `rate_min`, else 1 request/s.
    pub increase: TokenRate,
    /// The time between two increases. Default 500 ms.
    pub interval: Duration,
    /// The lowest rate. Key `rate_min`, default as `increase`.
    pub rate_min: TokenRate,
    /// Time after a decrease in which notices change nothing, because they concern requests sent
    /// before it. Key `hold`, default 500 ms; with zero every notice counts.
    pub hold: Duration,
    /// The length of the window in which best effort's achieved rate is measured. Key `window`,
    /// default 1 s.
    pub window: Duration,
    /// The time for which a task's notices are ignored after a false notice. Key `mute`, default 10
    /// s.
    pub mute: Duration,
    /// The parameters that all kinds of shaping share.
    pub shaping: Shaping,
}

impl Default for MdnParameters {
    fn default() -> Self {
        let one_per_s = TokenRate::new(TokenUnit::Request, 1);
        Self {
            decrease_ppm: 250_000,
            increase: one_per_s,
            interval: Duration::from_ms(500),
            rate_min: one_per_s,
            hold: Duration::from_ms(500),
            window: Duration::from_ms(1_000),
            mute: Duration::from_ms(10_000),
            shaping: Shaping::default(),
        }
    }
}

/// A rate as written: `"reserve"` or a number.
enum RawRate {
    Reserve,
    Fixed(TokenRate),
}

impl Quantity for RawRate {
    const WHAT: &'static str = "a rate of tokens";
    const EXAMPLE: &'static str = "\"100/s\", \"8MB/s\", \"50%\" or \"reserve\"";
    const UNITS: &'static [&'static str] = &[
        "reserve", "/s", "%", "B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "kB/s", "KB/s", "MB/s",
        "GB/s",
    ];

    fn read(text: &str) -> Result<Self, String> {
        if text == "reserve" { Ok(Self::Reserve) } else { TokenRate::read(text).map(Self::Fixed) }
    }
}

impl<'de> Deserialize<'de> for RawRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::quantity::deserialize(deserializer)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTokenBucket {
    rate: Option<RawRate>,
    capacity: Option<Bandwidth>,
    burst: Option<Duration>,
    write_rate: Option<TokenRate>,
    interactive_rate: Option<TokenRate>,
    #[serde(default)]
    detect: bool,
}

/// Collects the parameters that all kinds of shaping share.
fn shaping(
    burst: Option<Duration>,
    write_rate: Option<TokenRate>,
    interactive_rate: Option<TokenRate>,
    is_detecting: bool,
) -> Shaping {
    let burst = burst.unwrap_or(Shaping::default().burst);
    Shaping { burst, write_rate, interactive_rate, is_detecting }
}

impl TryFrom<RawTokenBucket> for TokenBucketParameters {
    type Error = String;

    fn try_from(raw: RawTokenBucket) -> Result<Self, String> {
        let rate = match (raw.rate, raw.capacity) {
            (Some(RawRate::Fixed(_)), Some(_)) => {
                return Err("`capacity` has no meaning beside a fixed rate\n\
                            delete one of them, or write rate = \"reserve\""
                    .to_owned());
            }
            (Some(RawRate::Fixed(rate)), None) => BestEffortRate::Fixed(rate),
            (Some(RawRate::Reserve) | None, capacity) => BestEffortRate::Reserve { capacity },
        };
        let shaping = shaping(raw.burst, raw.write_rate, raw.interactive_rate, raw.detect);
        Ok(Self { rate, shaping })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMdn {
    decrease: Option<Share>,
    increase: Option<TokenRate>,
    interval: Option<Duration>,
    rate_min: Option<TokenRate>,
    hold: Option<Duration>,
    window: Option<Duration>,
    mute: Option<Duration>,
    burst: Option<Duration>,
    write_rate: Option<TokenRate>,
    interactive_rate: Option<TokenRate>,
    #[serde(default)]
    detect: bool,
}

impl TryFrom<RawMdn> for MdnParameters {
    type Error = String;

    fn try_from(raw: RawMdn) -> Result<Self, String> {
        let default = Self::default();
        let increase = raw.increase.or(raw.rate_min).unwrap_or(default.increase);
        let rate_min = raw.rate_min.unwrap_or(increase);
        if increase.unit != rate_min.unit {
            return Err("`increase` and `rate_min` have different units\n\
                        write both in requests, both in bytes, or both as shares"
                .to_owned());
        }
        if raw.decrease == Some(Share { ppm: 0 }) {
            return Err("decrease is 0%, so notices would change nothing\n\
                        write a share above zero, for example decrease = \"25%\""
                .to_owned());
        }
        if [raw.interval, raw.window].contains(&Some(Duration::ZERO)) {
            return Err("`interval` and `window` must be above zero\n\
                        write for example interval = \"500ms\""
                .to_owned());
        }
        Ok(Self {
            decrease_ppm: raw.decrease.map_or(default.decrease_ppm, |share| share.ppm),
            increase,
            interval: raw.interval.unwrap_or(default.interval),
            rate_min,
            hold: raw.hold.unwrap_or(default.hold),
            window: raw.window.unwrap_or(default.window),
            mute: raw.mute.unwrap_or(default.mute),
            shaping: shaping(raw.burst, raw.write_rate, raw.interactive_rate, raw.detect),
        })
    }
}
