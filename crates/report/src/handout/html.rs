// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The handout as one HTML page without any network access; every text is escaped.

use std::fmt::{self, Write as _};

use super::sheet::Sheet;
use crate::xml::escaped;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The text of a page. Only `write!` and [`Markup::raw`] accept markup.
#[derive(Debug, Default)]
pub(super) struct Markup {
    text: String,
    is_in_section: bool,
}

impl Markup {
    /// Creates a page that begins with its head.
    pub(super) fn page() -> Self {
        let mut page = Self::default();
        page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        // Without this link, a browser would request an icon from the page's server.
        page.raw("<link rel=\"icon\" href=\"data:,\">\n");
        page.raw("<title>Tidegate report</title>\n<style>\n");
        page.raw(STYLE);
        page.raw("</style>\n</head>\n<body>\n<main>\n");
        page
    }

    /// Ends the page and returns its text.
    pub(super) fn into_page(mut self) -> String {
        self.end_section();
        self.raw("</main>\n<script>\n");
        self.raw(SCRIPT);
        self.raw("</script>\n</body>\n</html>\n");
        self.text
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn end_section(&mut self) {
        if std::mem::take(&mut self.is_in_section) {
            self.raw("</section>\n");
        }
    }

    /// Appends markup; `write!` calls this.
    ///
    /// # Panics
    /// If the `Display` of a value fails.
    pub(super) fn write_fmt(&mut self, markup: fmt::Arguments<'_>) {
        self.text.write_fmt(markup).expect("a string takes all text");
    }

    /// Appends markup in which all foreign text has been escaped.
    pub(super) fn raw(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    fn class(&mut self, class: &str, text: &str) {
        writeln!(self, "<p class=\"{class}\">{}</p>", escaped(text));
    }

    fn row(&mut self, tag: &str, cells: &[impl AsRef<str>]) {
        self.raw("<tr>");
        for cell in cells {
            write!(self, "<{tag}>{}</{tag}>", escaped(cell.as_ref()));
        }
        self.raw("</tr>\n");
    }
}

impl Sheet for Markup {
    /// Begins a section for each result. In print, each section begins on a new page.
    fn heading(&mut self, level: u8, text: &str) {
        if level == 2 {
            self.end_section();
            self.raw("<section>\n");
            self.is_in_section = true;
        }
        writeln!(self, "<h{level}>{}</h{level}>", escaped(text));
    }

    fn answer(&mut self, text: &str) {
        self.class("answer", text);
    }

    fn paragraph(&mut self, text: &str) {
        writeln!(self, "<p>{}</p>", escaped(text));
    }

    fn note(&mut self, text: &str) {
        self.class("note", text);
    }

    fn facts(&mut self, rows: &[(&str, String)]) {
        if rows.is_empty() {
            return;
        }
        self.raw("<dl>");
        for (label, value) in rows {
            writeln!(self, "<dt>{}</dt><dd>{}</dd>", escaped(label), escaped(value));
        }
        self.raw("</dl>\n");
    }

    fn list(&mut self, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.raw("<ul>\n");
        for item in items {
            writeln!(self, "<li>{}</li>", escaped(item));
        }
        self.raw("</ul>\n");
    }

    /// Appends a table, which scrolls independently on a narrow screen.
    fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) {
        self.raw("<div class=\"scroll\"><table>\n");
        self.row("th", header);
        for row in rows {
            self.row("td", &row);
        }
        self.raw("</table></div>\n");
    }

    fn charts(&mut self, figures: &[String]) {
        self.raw("<div class=\"charts\">\n");
        for figure in figures {
            self.raw(figure);
        }
        self.raw("</div>\n");
    }

    fn wide_chart(&mut self, figure: &str) {
        writeln!(self, "<div class=\"scroll wide\">{figure}</div>");
    }

    fn signature(&mut self) {
        self.raw("<dl class=\"sign\"><dt>Name</dt><dd></dd><dt>Date</dt><dd></dd></dl>\n");
    }
}
