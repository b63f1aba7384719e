// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes HTML; every text is escaped.

use std::fmt::{self, Write as _};

use crate::xml::escaped;

/// The text of a page. Only `write!` and [`Markup::raw`] take markup.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    pub(super) fn into_text(self) -> String {
        self.0
    }

    /// Appends markup: `write!` calls it.
    ///
    /// # Panics
    /// If the `Display` of a value fails.
    pub(super) fn write_fmt(&mut self, markup: fmt::Arguments<'_>) {
        self.0.write_fmt(markup).expect("a string takes all text");
    }

    /// Appends markup, in which every foreign text is already escaped.
    pub(super) fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    pub(super) fn element(&mut self, name: &str, text: &str) {
        writeln!(self, "<{name}>{}</{name}>", escaped(text));
    }

    pub(super) fn class(&mut self, name: &str, class: &str, text: &str) {
        writeln!(self, "<{name} class=\"{class}\">{}</{name}>", escaped(text));
    }

    /// Appends labels with their values.
    pub(super) fn facts(&mut self, rows: &[(&str, String)]) {
        if rows.is_empty() {
            return;
        }
        self.raw("<dl>");
        for (label, value) in rows {
            writeln!(self, "<dt>{}</dt><dd>{}</dd>", escaped(label), escaped(value));
        }
        self.raw("</dl>\n");
    }

    pub(super) fn list<'a>(&mut self, items: impl Iterator<Item = &'a str>) {
        self.raw("<ul>\n");
        for item in items {
            self.element("li", item);
        }
        self.raw("</ul>\n");
    }

    /// Appends a table, which scrolls by itself where the screen is narrow.
    pub(super) fn table(&mut self, header: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        self.raw("<div class=\"scroll\"><table>\n<tr>");
        for cell in header {
            write!(self, "<th>{}</th>", escaped(cell));
        }
        self.raw("</tr>\n");
        for row in rows {
            self.raw("<tr>");
            for cell in row {
                write!(self, "<td>{}</td>", escaped(&cell));
            }
            self.raw("</tr>\n");
        }
        self.raw("</table></div>\n");
    }
}
