// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Quantities as people write them: `"300ms"`, `"128KiB"`, `"8MB/s"`, `"20%"`.
//!
//! Every quantity carries its unit; a bare number is refused with advice. The same readers serve
//! files (through serde) and the command line (through [`Quantity`]).

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Visitor};

use crate::units::{Bandwidth, Bytes, Duration};

/// The reason why a text is not a quantity, with advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}\n{help}")]
pub struct QuantityError {
    /// The fault, with the text.
    pub message: String,
    /// The advice: what to write instead.
    pub help: String,
}

impl QuantityError {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// A quantity that is written with its unit.
pub trait Quantity: Sized {
    /// The quantity with an article: "a duration".
    const WHAT: &'static str;
    /// An example with its units.
    const EXAMPLE: &'static str;

    /// The accepted units; other units that the readers know, such as months, are refused.
    const UNITS: &'static [&'static str];

    /// Reads a text that has a number and a unit.
    ///
    /// # Errors
    /// The fault of the text, without advice.
    fn read(text: &str) -> Result<Self, String>;

    /// Parses a text that a user wrote.
    ///
    /// # Errors
    /// The fault, with advice on what to write instead.
    fn parse(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        let help = || format!("write for example {}", Self::EXAMPLE);
        if text.starts_with('-') {
            return Err(QuantityError::new(
                format!("{text}: {} cannot be negative", Self::WHAT),
                help(),
            ));
        }
        if text.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '_') {
            return Err(QuantityError::new(
                format!("`{text}` has no unit: {} is a number with its unit", Self::WHAT),
                help(),
            ));
        }
        let wrong = |reason: String| {
            QuantityError::new(format!("`{text}` is not {}: {reason}", Self::WHAT), help())
        };
        let is_unit = |word: &&str| Self::UNITS.contains(word);
        let mut words =
            text.split(|c: char| c.is_ascii_digit() || c == '.' || c == '_' || c == ' ');
        if let Some(word) = words.find(|word| !word.is_empty() && !is_unit(word)) {
            return Err(wrong(format!("`{word}` is not one of its units")));
        }
        Self::read(text).map_err(wrong)
    }
}

impl Quantity for Duration {
    const WHAT: &'static str = "a duration";
    const EXAMPLE: &'static str = "\"300ms\" (units: ns, us, ms, s, min, h, days)";
    const UNITS: &'static [&'static str] =
        &["ns", "us", "\u{b5}s", "\u{3bc}s", "ms", "s", "min", "h", "day", "days"];

    fn read(text: &str) -> Result<Self, String> {
        // The reader of durations does not know the micro sign or the Greek letter mu.
        let text = text.replace('\u{3bc}', "\u{b5}").replace("\u{b5}s", "us");
        let duration = humantime::parse_duration(&text).map_err(|error| error.to_string())?;
        u64::try_from(duration.as_nanos())
            .map(Self::from_ns)
            .map_err(|_| "it exceeds 584 years".to_owned())
    }
}

impl Quantity for Bytes {
    const WHAT: &'static str = "a size";
    const EXAMPLE: &'static str =
        "\"128KiB\" (units: B, KiB, MiB, GiB, TiB; kB, MB, GB are decimal)";
    const UNITS: &'static [&'static str] =
        &["B", "KiB", "MiB", "GiB", "TiB", "kB", "KB", "MB", "GB", "TB"];

    fn read(text: &str) -> Result<Self, String> {
        let size = bytesize::ByteSize::from_str(text)?.as_u64();
        if size == u64::MAX { Err("it exceeds 2^64 bytes".to_owned()) } else { Ok(Self::new(size)) }
    }
}

impl Quantity for Bandwidth {
    const WHAT: &'static str = "a rate";
    const EXAMPLE: &'static str = "\"8MB/s\"";
    const UNITS: &'static [&'static str] =
        &["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "kB/s", "KB/s", "MB/s", "GB/s", "TB/s"];

    fn read(text: &str) -> Result<Self, String> {
        let size = text.strip_suffix("/s").ok_or("it does not end in `/s`")?;
        Self::new(Bytes::read(size)?.get()).ok_or_else(|| "it is zero".to_owned())
    }
}

/// A share of a whole, in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// Parts per million, 0 to 1,000,000.
    pub ppm: u32,
}

/// Writes the share in the form in which it is read: `10%`, `12.5%`.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.ppm / 10_000, self.ppm % 10_000);
        match format!("{part:04}").trim_end_matches('0') {
            "" => write!(f, "{whole}%"),
            digits => write!(f, "{whole}.{digits}%"),
        }
    }
}

impl Quantity for Share {
    const WHAT: &'static str = "a share";
    const EXAMPLE: &'static str = "\"20%\"";
    const UNITS: &'static [&'static str] = &["%"];

    fn read(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').ok_or("it does not end in `%`")?.trim();
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() > 3 || fraction.len() > 4 {
            return Err("it is not between 0% and 100% in steps of 0.0001%".to_owned());
        }
        let digits = format!("{whole}{fraction:0<4}");
        let ppm = digits.parse::<u32>().map_err(|_| "it is not a decimal number".to_owned())?;
        if ppm > 1_000_000 { Err("it is more than 100%".to_owned()) } else { Ok(Self { ppm }) }
    }
}

/// Reads a quantity from a TOML or JSON string; a bare number is refused with advice.
struct QuantityVisitor<Q>(std::marker::PhantomData<Q>);

impl<Q: Quantity> QuantityVisitor<Q> {
    fn bare<E: serde::de::Error>(number: impl fmt::Display) -> Result<Q, E> {
        let text = number.to_string();
        match Q::parse(&text) {
            Err(error) => Err(E::custom(error)),
            Ok(_) => unreachable!("a bare number is refused"),
        }
    }
}

impl<Q: Quantity> Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} such as {}", Q::WHAT, Q::EXAMPLE)
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Q, E> {
        Q::parse(text).map_err(E::custom)
    }
    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Q, E> {
        Self::bare(number)
    }
    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Q, E> {
        Self::bare(number)
    }
    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Q, E> {
        Self::bare(number)
    }
}

/// Reads a quantity from a TOML or JSON string.
pub(crate) fn deserialize<'de, Q: Quantity, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Q, D::Error> {
    deserializer.deserialize_any(QuantityVisitor(std::marker::PhantomData))
}

macro_rules! deserialize_quantity {
    ($($quantity:ty),+) => {$(
        impl<'de> Deserialize<'de> for $quantity {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize(deserializer)
            }
        }
    )+};
}
deserialize_quantity!(Duration, Bytes, Bandwidth, Share);
