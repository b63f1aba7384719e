// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Published numbers: how a source prints them, with the precision that their digits have.

use serde::Deserialize;

/// A published number, such as `39.9 MB/s`, or a limit, such as `< 17 ms`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Published {
    /// How ours must relate to it.
    pub(crate) relation: Relation,
    /// The number in its unit.
    pub(crate) number: f64,
    /// Half of the last printed digit.
    pub(crate) precision: f64,
    /// The unit.
    pub(crate) unit: Unit,
    /// As the source prints it.
    pub(crate) text: String,
}

/// How our number must relate to a published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Equal, within precision or tolerance.
    Equal,
    /// Less, or at most.
    Less,
    /// More, or at least.
    More,
}

/// A unit and its size in the base unit: ns, bytes per second, a count, or a share of 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) size: f64,
}

/// The units; a tick of the simulators in the literature is one millisecond here.
const UNITS: [Unit; 14] = [
    Unit { name: "", size: 1.0 },
    Unit { name: "ns", size: 1.0 },
    Unit { name: "us", size: 1e3 },
    Unit { name: "ms", size: 1e6 },
    Unit { name: "s", size: 1e9 },
    Unit { name: "ticks", size: 1e6 },
    Unit { name: "B/s", size: 1.0 },
    Unit { name: "kB/s", size: 1e3 },
    Unit { name: "MB/s", size: 1e6 },
    Unit { name: "GB", size: 1e9 },
    Unit { name: "%", size: 0.01 },
    Unit { name: "tasks", size: 1.0 },
    Unit { name: "requests", size: 1.0 },
    Unit { name: "bytes", size: 1.0 },
];

impl Unit {
    /// Returns the unit of this name.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let known = || UNITS.map(|unit| unit.name).join(", ");
        let found = UNITS.into_iter().find(|unit| unit.name == name);
        found.ok_or_else(|| format!("`{name}` is no unit; write one of{}", known()))
    }

    /// Formats a value in base units, with four digits.
    pub(crate) fn show(self, value: f64) -> String {
        let number = value / self.size;
        let digits = match number.abs() {
            1000.0.. => 0,
            100.0.. => 1,
            10.0.. => 2,
            _ => 3,
        };
        let text = format!("{number:.digits$}");
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        format!("{text} {}", self.name).trim_end().to_owned()
    }
}

impl Published {
    /// Parses a text such as `> 2 s`.
    ///
    /// # Errors
    /// The fault.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let relations = [("<", Relation::Less), (">", Relation::More)];
        let relation = relations.into_iter().find(|(sign, _)| trimmed.starts_with(sign));
        let rest = trimmed.trim_start_matches(['<', '>', '=', ' ']);
        let end =
            rest.find(|c: char| !(c.is_ascii_digit() || ".,-".contains(c))).unwrap_or(rest.len());
        let (digits, unit) = (rest[..end].replace(',', ""), rest[end..].trim());
        let number =
            digits.parse().map_err(|_| format!("`{text}` does not begin with a number"))?;
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let decimals = i32::try_from(decimals).map_err(|_| "too many digits".to_owned())?;
        Ok(Self {
            relation: relation.map_or(Relation::Equal, |(_, relation)| relation),
            number,
            precision: 0.5 * 10_f64.powi(-decimals),
            unit: Unit::named(unit)?,
            text: text.to_owned(),
        })
    }

    /// Returns the value in base units.
    pub(crate) fn value(&self) -> f64 {
        self.number * self.unit.size
    }
}

impl<'de> Deserialize<'de> for Published {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// How far ours may be from a published number, instead of its own precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tolerance {
    /// A share of the published number.
    Share(f64),
    /// An amount in base units.
    Amount(f64),
}

impl Tolerance {
    /// Returns the amount for a published value.
    pub(crate) fn of(self, value: f64) -> f64 {
        match self {
            Self::Share(share) => value.abs() * share,
            Self::Amount(amount) => amount,
        }
    }
}

impl<'de> Deserialize<'de> for Tolerance {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parsed = Published::parse(&text).map_err(serde::de::Error::custom)?;
        let is_share = parsed.unit.name == "%";
        Ok(if is_share { Self::Share(parsed.value()) } else { Self::Amount(parsed.value()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digits_tell_the_precision() {
        let of = |text: &str| Published::parse(text).unwrap();
        assert!((of("39.9 MB/s").value() - 39.9e6).abs() < 1e-6);
        assert!((of("39.9 MB/s").precision - 0.05).abs() < 1e-12);
        assert!((of("72,704").precision - 0.5).abs() < 1e-12);
        assert_eq!(
            (of("> 2 s").relation, of("<= 17 ms").relation),
            (Relation::More, Relation::Less)
        );
        assert!(Published::parse("ms").is_err() && Published::parse("3 parsecs").is_err());
    }

    #[test]
    fn values_are_shown_in_the_units_of_the_source() {
        let shown = |unit: &str, value: f64| Unit::named(unit).unwrap().show(value);
        assert_eq!(shown("MB/s", 39_912_345.0), "39.91 MB/s");
        assert_eq!(shown("ms", 117e6), "117 ms");
        assert_eq!(shown("%", 0.34), "34 %");
        assert_eq!(shown("", 72_704.0), "72704");
    }
}
