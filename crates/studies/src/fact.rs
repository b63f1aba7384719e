// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares our values with the published facts.

use minijinja::Environment;
use serde::Serialize;

use crate::cell::Cell;
use crate::expression::{NoValue, evaluate_strictly};
use crate::file::{Basis, FactFile, Kind};
use crate::published::{Published, Relation};
use crate::verdict::Verdict;

/// The verdict on one published fact, with our value.
#[derive(Debug, Clone, Serialize)]
pub struct FactResult {
    /// The place at which the source states the fact.
    pub at: String,
    /// The published fact, in one sentence.
    pub says: String,
    /// The published number as printed.
    pub published: Option<String>,
    /// Our value in the same unit.
    pub ours: Option<String>,
    /// Whether our model was fitted to the fact.
    pub is_fitted: bool,
    /// The verdict on the fact.
    pub verdict: Verdict,
    /// The reason for the verdict, or for a tolerance.
    pub reason: Option<String>,
}

/// The outcome of comparing our value with the published one.
enum Compared {
    Exactly,
    Tolerated,
    Not,
}

impl FactFile {
    /// Judges the fact by these results; `is_quick` says whether they come from a `--quick` run.
    pub(crate) fn judge(&self, environment: &Environment<'_>, is_quick: bool) -> FactResult {
        let mut result = FactResult {
            at: self.at.clone(),
            says: self.says.clone(),
            published: self.published.as_ref().map(|it| it.text.clone()),
            ours: None,
            is_fitted: self.basis == Basis::Fitted,
            verdict: Verdict::NotRun,
            reason: self.reason().cloned(),
        };
        if self.kind == Kind::Picture {
            result.verdict = Verdict::PictureOnly;
            return result;
        }
        let Some(expression) = &self.ours else {
            result.verdict = Verdict::NotComparable;
            return result;
        };
        if is_quick && !self.quick {
            result.reason = Some("needs a full run".to_owned());
            return result;
        }
        let ours = evaluate_strictly(environment, expression);
        let judged = ours.and_then(|ours| self.compare(&ours, is_quick, &mut result));
        let is_stated = [Verdict::Differs, Verdict::Unexplained].contains(&result.verdict);
        let is_to_show = !is_quick && is_stated;
        match judged.and_then(|()| if is_to_show { self.show(environment) } else { Ok(true) }) {
            Ok(true) => (),
            Ok(false) => {
                result.verdict = Verdict::NotAsStated;
                result.reason = Some("the runs that showed what is stated do not".to_owned());
            }
            Err(NoValue::Missing(what)) => {
                result.verdict = Verdict::NotRun;
                result.reason = Some(what);
            }
            Err(NoValue::Faulty(what)) => {
                result.verdict = Verdict::Faulty;
                result.reason = Some(what);
            }
        }
        result
    }

    fn reason(&self) -> Option<&String> {
        let stated = [&self.differs, &self.unexplained, &self.not_comparable, &self.print_is_wrong];
        stated.into_iter().chain([&self.because]).find_map(Option::as_ref)
    }

    /// Returns whether other runs confirm the stated reason; true if the fact names no such runs.
    fn show(&self, environment: &Environment<'_>) -> Result<bool, NoValue> {
        let Some(expression) = &self.shown else { return Ok(true) };
        match evaluate_strictly(environment, expression)? {
            Cell::Bool(holds) => Ok(holds),
            other => Err(NoValue::Faulty(format!("`shown` is `{other}`, neither true nor false"))),
        }
    }

    fn compare(&self, ours: &Cell, is_quick: bool, result: &mut FactResult) -> Result<(), NoValue> {
        let faulty = |what: &str| NoValue::Faulty(format!("`{ours}` is {what}"));
        let compared = match (self.corrected.as_ref().or(self.published.as_ref()), ours) {
            (Some(published), _) if self.kind != Kind::Ranking => {
                let number = ours.number().filter(|it| it.is_finite());
                let number = number.ok_or_else(|| faulty("no number"))?;
                result.ours = Some(published.unit.show(number));
                self.against(published, number)
            }
            (_, Cell::Bool(holds)) => {
                result.ours = Some(holds.to_string());
                if *holds { Compared::Exactly } else { Compared::Not }
            }
            _ => return Err(faulty("neither true nor false, as a ranking is")),
        };
        result.verdict = self.verdict(&compared, is_quick);
        Ok(())
    }

    fn against(&self, published: &Published, ours: f64) -> Compared {
        let value = published.value();
        // The rounding of ns in floats must not turn an exact match into a difference.
        let slack = value.abs() * 1e-12;
        let precision = published.precision * published.unit.size + slack;
        let (below, above) = self.tolerance.map_or((0.0, 0.0), |it| it.of(value));
        let (lowest, highest) = (value - below - slack, value + above + slack);
        let (close, far) = match published.relation {
            Relation::Equal => {
                ((ours - value).abs() <= precision, (lowest..=highest).contains(&ours))
            }
            Relation::Less => (ours <= value + slack, ours <= highest),
            Relation::More => (ours + slack >= value, ours >= lowest),
        };
        match (close, far) {
            (true, _) => Compared::Exactly,
            (false, true) => Compared::Tolerated,
            (false, false) => Compared::Not,
        }
    }

    fn verdict(&self, compared: &Compared, is_quick: bool) -> Verdict {
        let is_stated = self.differs.is_some() || self.unexplained.is_some();
        match compared {
            Compared::Exactly | Compared::Tolerated if self.print_is_wrong.is_some() => {
                Verdict::PrintIsWrong
            }
            // A short run cannot refute a difference that long runs have.
            Compared::Exactly | Compared::Tolerated if is_stated && !is_quick => Verdict::Stale,
            Compared::Not if self.differs.is_some() => Verdict::Differs,
            Compared::Not if is_stated => Verdict::Unexplained,
            Compared::Exactly => Verdict::Reproduced,
            Compared::Tolerated => Verdict::WithinTolerance,
            Compared::Not => Verdict::NotAsStated,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::expression::{Results, over};

    fn judged(text: &str) -> FactResult {
        let fact: FactFile = toml::from_str(&format!("at = \"a\"\nsays = \"b\"\n{text}")).unwrap();
        fact.judge(&over(&Results::new(), &BTreeSet::new()), false)
    }

    fn verdict(text: &str) -> Verdict {
        judged(text).verdict
    }

    #[test]
    fn a_number_agrees_to_its_last_digit_or_within_its_tolerance() {
        assert_eq!(verdict("ours = '39949999'\npublished = '39.9 MB/s'"), Verdict::Reproduced);
        assert_eq!(verdict("ours = '39950001'\npublished = '39.9 MB/s'"), Verdict::NotAsStated);
        let tolerant = "published = '39.9 MB/s'\ntolerance = '1 %'\nbecause = 'c'\n";
        assert_eq!(verdict(&format!("{tolerant}ours = '40200000'")), Verdict::WithinTolerance);
        assert_eq!(verdict(&format!("{tolerant}ours = '40400000'")), Verdict::NotAsStated);
    }

    #[test]
    fn a_tolerance_with_a_sign_is_of_one_side() {
        let above = "published = '39.9 MB/s'\ntolerance = '+1 %'\nbecause = 'c'\n";
        assert_eq!(verdict(&format!("{above}ours = '40200000'")), Verdict::WithinTolerance);
        assert_eq!(verdict(&format!("{above}ours = '39600000'")), Verdict::NotAsStated);
        let limit = "published = '< 17 ms'\ntolerance = '+1 ms'\nbecause = 'c'\n";
        assert_eq!(verdict(&format!("{limit}ours = '17500000'")), Verdict::WithinTolerance);
    }

    #[test]
    fn a_limit_holds_on_its_side_only() {
        assert_eq!(verdict("ours = '17000000'\npublished = '< 17 ms'"), Verdict::Reproduced);
        assert_eq!(verdict("ours = '17000001'\npublished = '< 17 ms'"), Verdict::NotAsStated);
        assert_eq!(verdict("ours = '2000000001'\npublished = '> 2 s'"), Verdict::Reproduced);
        assert_eq!(verdict("ours = '1999999999'\npublished = '> 2 s'"), Verdict::NotAsStated);
    }

    #[test]
    fn an_explanation_counts_only_while_ours_differs() {
        assert_eq!(verdict("ours = '1'\npublished = '2'\ndiffers = 'c'"), Verdict::Differs);
        assert_eq!(verdict("ours = '2'\npublished = '2'\ndiffers = 'c'"), Verdict::Stale);
        assert_eq!(verdict("ours = '1'\npublished = '2'\nunexplained = 'c'"), Verdict::Unexplained);
        assert_eq!(verdict("ours = '2'\npublished = '2'\nunexplained = 'c'"), Verdict::Stale);
    }

    /// Canary: a reason that its runs do not confirm explains nothing.
    #[test]
    fn a_reason_counts_only_while_its_runs_show_it() {
        let differs = "ours = '1'\npublished = '2'\ndiffers = 'c'\n";
        assert_eq!(verdict(&format!("{differs}shown = '1 < 2'")), Verdict::Differs);
        assert_eq!(verdict(&format!("{differs}shown = '2 < 1'")), Verdict::NotAsStated);
        assert_eq!(verdict(&format!("{differs}shown = '5'")), Verdict::Faulty);
        assert_eq!(verdict(&format!("{differs}shown = 'missing(1)'")), Verdict::Faulty);
    }

    #[test]
    fn rankings_pictures_and_wrong_prints_have_their_verdicts() {
        assert_eq!(verdict("kind = 'ranking'\nours = '1 < 2'"), Verdict::Reproduced);
        assert_eq!(verdict("kind = 'ranking'\nours = '2 < 1'"), Verdict::NotAsStated);
        assert_eq!(verdict("kind = 'picture'"), Verdict::PictureOnly);
        let wrong = "published = '2.57 ms'\nprint_is_wrong = 'c'\ncorrected = '3.43 ms'\n";
        assert_eq!(verdict(&format!("{wrong}ours = '3430000'")), Verdict::PrintIsWrong);
        assert_eq!(verdict(&format!("{wrong}ours = '2570000'")), Verdict::NotAsStated);
    }

    #[test]
    fn an_expression_without_a_fitting_value_is_faulty() {
        assert_eq!(verdict("ours = 'missing(1)'\npublished = '2'"), Verdict::Faulty);
        assert_eq!(verdict("ours = '[1, 2]'\npublished = '2'"), Verdict::Faulty);
        assert_eq!(verdict("ours = '1e308 * 10'\npublished = '> 2'"), Verdict::Faulty);
        for ranking in ["[] | mean", "1e308 * 10", "5", "[1] is rising", "\"no\" > 5", "[1] > 2"] {
            let fact = format!("kind = 'ranking'\nours = '{ranking}'");
            assert_eq!(verdict(&fact), Verdict::Faulty, "{ranking}");
        }
    }

    #[test]
    fn ours_is_shown_in_the_unit_of_the_print() {
        assert_eq!(judged("ours = '117e6'\npublished = '117 ticks'").ours.unwrap(), "117 ticks");
    }
}
