// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Published numbers as their sources print them, with the precision of their digits.

use serde::Deserialize;

/// A published number, such as `39.9 MB/s`, or a limit, such as `< 17 ms`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Published {
    /// The required relation of our number to this one.
    pub(crate) relation: Relation,
    /// The number in the unit `unit`.
    pub(crate) number: f64,
    /// Half a unit of the last printed digit.
    pub(crate) precision: f64,
    /// The unit.
    pub(crate) unit: Unit,
    /// The text as the source prints it.
    pub(crate) text: String,
}

/// The required relation of our number to a published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Equal, within precision or tolerance.
    Equal,
    /// Less than the published number, or equal.
    Less,
    /// More than the published number, or equal.
    More,
}

/// A unit and its size in the base unit: ns, bytes per second, a count, or a share of 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) size: f64,
}

/// The known units; a tick of the simulators in the literature is one millisecond here.
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
    /// Returns the unit called `name`.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let known = || UNITS.map(|unit| unit.name).join(", ");
        let found = UNITS.into_iter().find(|unit| unit.name == name);
        found.ok_or_else(|| format!("`{name}` is no unit; write one of{}", known()))
    }

    /// Formats a value in base units, with four digits.
    pub(crate) fn show(self, value: f64) -> String {
        format!("{} {}", self.number(value), self.name).trim_end().to_owned()
    }

    /// Formats a value in base units like [`Self::show`], without the unit's name.
    pub(crate) fn number(self, value: f64) -> String {
        let number = value / self.size;
        let digits = match number.abs() {
            1000.0.. => 0,
            100.0.. => 1,
            10.0.. => 2,
            _ => 3,
        };
        let text = format!("{number:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    }
}

impl Published {
    /// Parses a text such as `> 2 s`.
    ///
    /// # Errors
    /// The description of the fault.
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

/// The allowed difference between our number and a published one, which replaces the precision of
/// the printed digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tolerance {
    amount: Amount,
    /// Whether our number may be lower, and whether it may be higher.
    sides: (bool, bool),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Amount {
    /// A share of the published number.
    Share(f64),
    /// An amount in base units.
    Absolute(f64),
}

impl Tolerance {
    /// Returns whether the tolerance has an effect for this relation: a limit can be missed on one
    /// side only.
    pub(crate) const fn widens(self, relation: Relation) -> bool {
        match relation {
            Relation::Equal => true,
            Relation::Less => self.sides.1,
            Relation::More => self.sides.0,
        }
    }

    /// Returns the largest distances of our value below and above a published value.
    pub(crate) fn of(self, value: f64) -> (f64, f64) {
        let amount = match self.amount {
            Amount::Share(share) => value.abs() * share,
            Amount::Absolute(amount) => amount,
        };
        let side = |is_allowed| if is_allowed { amount } else { 0.0 };
        (side(self.sides.0), side(self.sides.1))
    }
}

/// Parses a tolerance: `2.5 %` allows both sides, `+2.5 %` only higher and `-2.5 %` only lower
/// values.
impl<'de> Deserialize<'de> for Tolerance {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (amount, sides) = match text.trim().split_at_checked(1) {
            Some(("+", rest)) => (rest, (false, true)),
            Some(("-", rest)) => (rest, (true, false)),
            _ => (text.as_str(), (true, true)),
        };
        if !amount.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            let advice = "write an amount with at most one sign before it, such as +2.5 %";
            return Err(serde::de::Error::custom(format!("tolerance `{text}`: {advice}")));
        }
        let parsed = Published::parse(amount).map_err(serde::de::Error::custom)?;
        let is_share = parsed.unit.name == "%";
        let amount = if is_share { Amount::Share } else { Amount::Absolute }(parsed.value());
        Ok(Self { amount, sides })
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
    #[test]
    fn a_tolerance_has_one_sign_and_no_relation() {
        #[derive(Debug, Deserialize)]
        struct Holder {
            it: Tolerance,
        }
        let of = |text: &str| toml::from_str::<Holder>(&format!("it = '{text}'")).map(|it| it.it);
        assert_eq!(of("+2.5 %").unwrap().sides, (false, true));
        for text in ["--1 ms", "+< 5 ms", "< 5 ms", "+"] {
            assert!(of(text).unwrap_err().to_string().contains("at most one sign"), "{text}");
        }
    }
}
