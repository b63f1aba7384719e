// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks a study file before anything runs, including that its tables agree with each other.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_model::Duration;
use tidegate_model::quantity::Quantity as _;

use crate::cell::Cell;
use crate::file::{FactFile, FigureFile, Form, GridFile, Kind, StudyFile, TableFile};
use crate::published::{Tolerance, Unit};

impl StudyFile {
    /// Checks the file for contradictions.
    ///
    /// # Errors
    /// The description of the first contradiction.
    pub(crate) fn check(&self) -> Result<(), String> {
        needs(!self.items.is_empty(), "`items` is empty: name what the study reproduces")?;
        for fact in &self.fact {
            let fault = |fault: String| format!("fact \"{}\": {fault}", fact.says);
            fact.check().map_err(fault)?;
            if !self.items.contains(&fact.at) {
                return Err(fault(format!("`{}` is not one of the study's items", fact.at)));
            }
        }
        for (name, grid) in &self.grid {
            grid.check().map_err(|fault| format!("grid `{name}`: {fault}"))?;
        }
        let mut files = BTreeSet::new();
        for figure in &self.figure {
            let fault = |fault: String| format!("figure `{}`: {fault}", figure.file);
            let grid = self.grid.get(&figure.grid);
            let grid = grid.ok_or_else(|| fault(format!("there is no grid `{}`", figure.grid)))?;
            figure.check(grid).map_err(fault)?;
            if !files.insert(&figure.file) {
                return Err(fault("another figure has this `file`".to_owned()));
            }
        }
        for table in &self.table {
            let fault = |fault: String| format!("table `{}`: {fault}", table.file);
            table.check(&self.grid).map_err(fault)?;
            if self.grid.contains_key(&table.file) || !files.insert(&table.file) {
                return Err(fault("a grid, a figure or another table has this `file`".to_owned()));
            }
        }
        Ok(())
    }
}

impl GridFile {
    fn check(&self) -> Result<(), String> {
        for (name, axis) in self.axes.iter().chain(&self.quick.axes) {
            needs(!axis.values().is_empty(), &format!("the axis `{name}` has no value"))?;
            needs(
                self.axes.contains_key(name),
                &format!("`quick` has an axis `{name}` of its own"),
            )?;
        }
        let is_one =
            self.search.as_ref().is_none_or(|it| it.while_holds.is_some() != it.first.is_some());
        needs(is_one, "a search needs either `while` or `first`")
    }

    /// Returns whether the grid's rows have, or can have, this measure.
    fn measures(&self, name: &str) -> bool {
        self.search.as_ref().is_some_and(|it| it.axis == name)
            || self.measures.iter().any(|it| it == name)
    }
}

impl FigureFile {
    fn check(&self, grid: &GridFile) -> Result<(), String> {
        Unit::named(&self.x_unit)?;
        Unit::named(&self.y_unit)?;
        for measure in &self.y {
            needs(grid.measures(measure), &format!("the grid has no measure `{measure}`"))?;
        }
        match (self.form, &self.x) {
            _ if self.rows.is_some() && self.form != Form::Heatmap => {
                Err("`rows` belongs to a heat map".to_owned())
            }
            (Form::Cdf | Form::Histogram | Form::Schedule, _) => Ok(()),
            (Form::Heatmap, x) => {
                let is_axis =
                    |it: &Option<String>| it.as_ref().is_some_and(|it| grid.axes.contains_key(it));
                let are_axes = is_axis(x) && is_axis(&self.rows);
                needs(are_axes, "a heat map needs an axis of the grid in `x`, and one in `rows`")
            }
            (Form::Lines, Some(x)) => {
                let is_number = |cell: &Cell| cell.number().is_some();
                let axis = grid.axes.get(x).map(|axis| axis.values().iter().all(is_number));
                let is_there = axis.unwrap_or_else(|| grid.measures(x));
                needs(is_there, &format!("the grid has no axis of numbers `{x}`"))
            }
            (Form::Lines, None) => Err("lines need an axis in `x`".to_owned()),
            (Form::Series, x) => {
                let slice = x.as_ref().ok_or("a series needs the length of its slices in `x`")?;
                Duration::parse(slice).map(|_| ()).map_err(|error| error.to_string())
            }
        }
    }
}

impl TableFile {
    fn check(&self, grids: &BTreeMap<String, GridFile>) -> Result<(), String> {
        let of =
            |name: &String| grids.get(name).ok_or_else(|| format!("there is no grid `{name}`"));
        let own = of(&self.grid)?;
        for column in &self.columns {
            Unit::named(&column.unit)?;
            let grid = column.grid.as_ref().map_or(Ok(own), of)?;
            let measure = &column.measure;
            needs(grid.measures(measure), &format!("the grid has no measure `{measure}`"))?;
            let axis = grid.axes.keys().find(|name| !own.axes.contains_key(*name));
            if let Some(axis) = axis {
                return Err(format!(
                    "`{measure}` depends on `{axis}`, which the table does not show"
                ));
            }
        }
        needs(!self.columns.is_empty(), "it has no column")
    }
}

impl FactFile {
    fn check(&self) -> Result<(), String> {
        let stated = [&self.differs, &self.unexplained, &self.not_comparable, &self.print_is_wrong];
        let stated = stated.iter().filter(|it| it.is_some()).count();
        needs(stated <= 1, "it has two verdicts")?;
        let is_to_show = self.differs.is_some() || self.unexplained.is_some();
        needs(self.shown.is_none() || is_to_show, "`shown` needs `differs` or `unexplained`")?;
        needs(self.tolerance.is_some() == self.because.is_some(), "a tolerance needs `because`")?;
        needs(
            self.not_comparable.is_none() || self.ours.is_none(),
            "it has `ours`, so it can be compared",
        )?;
        match self.kind {
            Kind::Picture => needs(self.ours.is_none(), "a picture has no number to compare"),
            Kind::Number | Kind::Ranking if self.not_comparable.is_some() => Ok(()),
            Kind::Number => self.check_number(),
            Kind::Ranking => needs(self.ours.is_some(), "a ranking needs `ours`"),
        }
    }

    fn check_number(&self) -> Result<(), String> {
        needs(
            self.ours.is_some() && self.published.is_some(),
            "a number needs `ours` and `published`",
        )?;
        let belongs = self.print_is_wrong.is_some() == self.corrected.is_some();
        needs(belongs, "`print_is_wrong` and `corrected` belong together")?;
        let compared = self.corrected.as_ref().or(self.published.as_ref());
        let widens = |it: Tolerance| compared.is_none_or(|other| it.widens(other.relation));
        needs(self.tolerance.is_none_or(widens), "the tolerance is on the open side of the limit")?;
        let value = |it: &crate::published::Published| (it.value(), it.relation);
        let is_other = self.corrected.as_ref().map(value) != self.published.as_ref().map(value);
        needs(is_other, "`corrected` is what the source prints")
    }
}

fn needs(is_there: bool, what: &str) -> Result<(), String> {
    if is_there { Ok(()) } else { Err(what.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: &str = "title = 't'\nitems = ['a']\n[grid.main]\nsource = { kind = 'formula' }\n\
                        measures = ['y']\naxes = { x = [1, 2], name = ['b'] }\n";

    fn fault(rest: &str) -> String {
        let file: StudyFile = toml::from_str(&format!("{GRID}{rest}")).unwrap();
        file.check().err().unwrap_or_default()
    }

    #[test]
    fn a_figure_that_cannot_be_drawn_is_refused() {
        let figure = |rest: &str| {
            fault(&format!("[[figure]]\nfile = 'f'\ntitle = 't'\ngrid = 'main'\n{rest}"))
        };
        assert_eq!(figure("x = 'x'\ny = ['y']"), "");
        assert!(figure("x = 'z'\ny = ['y']").contains("`z`"));
        assert!(figure("x = 'name'\ny = ['y']").contains("`name`"));
        assert!(figure("y = ['y']").contains("need an axis"));
        assert!(figure("x = 'x'\ny = ['z']").contains("no measure `z`"));
        assert!(figure("x = 'x'\ny = ['y']\ny_unit = 'parsec'").contains("parsec"));
        assert!(figure("form = 'series'\nx = 'x'\ny = ['y']").contains('x'));
        let one = "[[figure]]\nfile = 'f'\ntitle = 't'\ngrid = 'main'\nx = 'x'\ny = ['y']\n";
        assert!(fault(&one.repeat(2)).contains("another figure"));
    }

    #[test]
    fn a_heat_map_or_a_table_that_cannot_be_made_is_refused() {
        let heatmap =
            "[[figure]]\nfile = 'f'\ntitle = 't'\ngrid = 'main'\nform = 'heatmap'\ny = ['y']\n";
        assert_eq!(fault(&format!("{heatmap}x = 'x'\nrows = 'name'")), "");
        assert!(fault(&format!("{heatmap}x = 'x'")).contains("`rows`"));
        assert!(fault(&format!("{heatmap}x = 'y'\nrows = 'name'")).contains("axis of the grid"));
        let table = |file: &str, columns: &str| {
            let other = "[grid.other]\nsource = {}\nmeasures = ['w']\naxes = { seed = [1] }\n";
            fault(&format!(
                "{other}[[table]]\nfile = '{file}'\ntitle = 't'\ngrid = 'main'\ncolumns = {columns}"
            ))
        };
        assert_eq!(table("t", "[{ measure = 'y' }]"), "");
        assert!(table("main", "[{ measure = 'y' }]").contains("has this `file`"));
        assert!(table("t", "[{ measure = 'z' }]").contains("no measure `z`"));
        assert!(table("t", "[{ measure = 'w', grid = 'other' }]").contains("`seed`"));
        assert!(table("t", "[]").contains("no column"));
    }

    #[test]
    fn a_grid_without_points_is_refused() {
        assert!(
            fault("[grid.none]\nsource = {}\nmeasures = []\naxes = { x = [] }")
                .contains("no value")
        );
        assert!(fault("quick = { axes = { x = { from = 2, to = 1 } } }").contains("no value"));
        assert!(fault("quick = { axes = { z = [1] } }").contains("of its own"));
    }

    #[test]
    fn a_fact_that_contradicts_itself_is_refused() {
        let fact = |rest: &str| fault(&format!("[[fact]]\nat = 'a'\nsays = 's'\n{rest}"));
        assert_eq!(fact("ours = '1'\npublished = '2'\ndiffers = 'd'"), "");
        assert!(
            fact("ours = '1'\npublished = '2'\nnot_comparable = 'd'").contains("can be compared")
        );
        assert!(fact("ours = '1'\npublished = '2'\nshown = 'true'").contains("`differs`"));
        let two = "ours = '1'\npublished = '2'\ndiffers = 'd'\nunexplained = 'u'";
        assert!(fact(two).contains("two verdicts"));
        let limit = "ours = '1'\nbecause = 'b'\npublished = '< 2 ms'\n";
        assert!(fact(&format!("{limit}tolerance = '-1 ms'")).contains("open side"));
        assert_eq!(fact(&format!("{limit}tolerance = '+1 ms'")), "");
        let wrong = "ours = '1'\npublished = '2'\nprint_is_wrong = 'd'\n";
        assert!(fact(&format!("{wrong}corrected = '2'")).contains("what the source prints"));
        assert_eq!(fact(&format!("{wrong}corrected = '3'")), "");
    }
}
