// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The two formats of a page.
//!
//! # Source
//! OpenMetrics 1.0; Prometheus' text format 0.0.4, in which a counter's family has the name of its
//! samples, and an info metric is a gauge.

/// A format of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus' text format 0.0.4, which the textfile collector of `node_exporter` reads.
    Prometheus,
}

impl Format {
    /// Returns the content type, as the format's standard defines it.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Converts a page from OpenMetrics to this format.
    pub(crate) fn text(self, page: String) -> String {
        match self {
            Self::OpenMetrics => page,
            Self::Prometheus => prometheus(&page),
        }
    }
}

/// Converts a page from OpenMetrics to Prometheus' text format.
fn prometheus(page: &str) -> String {
    let mut text = String::new();
    let mut help = "";
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            // The name in this line depends on the type, which is in the next line.
            help = rest;
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap_or((rest, "untyped"));
            let (suffix, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                other => ("", other),
            };
            let said = help.strip_prefix(name).unwrap_or_default();
            let name = [name, suffix].concat();
            text.extend(["# HELP ", &name, said, "\n# TYPE ", &name, " ", kind, "\n"]);
        } else if !line.starts_with("# ") {
            text += line;
            text.push('\n');
        }
    }
    text
}
