// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The elements of a handout. HTML and Markdown each write them in their own way.

/// A handout that is being written.
pub(super) trait Sheet {
    /// Writes a heading; level 1 is the title.
    fn heading(&mut self, level: u8, text: &str);

    /// Writes the first line of a result.
    fn answer(&mut self, text: &str);

    fn paragraph(&mut self, text: &str);

    /// Writes a paragraph that explains a figure.
    fn note(&mut self, text: &str);

    /// Writes labels with their values.
    fn facts(&mut self, rows: &[(&str, String)]);

    fn list(&mut self, items: &[String]);

    fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>);

    /// Writes charts side by side, each as SVG. Only HTML shows charts.
    fn charts(&mut self, figures: &[String]);

    /// Writes a chart that is as wide as the page.
    fn wide_chart(&mut self, figure: &str);

    /// Writes the place for a name and a date.
    fn signature(&mut self);
}
