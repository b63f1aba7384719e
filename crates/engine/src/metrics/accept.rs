// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The format of the metrics page that a client asks for.
//!
//! # Source
//! Reads the `Accept` header as RFC 9110, 12.5.1, defines it.

use tidegate_metrics::Format;

/// Returns the format that the head of a request asks for; OpenMetrics if it has no preference.
pub(super) fn asked_for(head: &str) -> Format {
    let is_accept = |line: &&str| {
        line.split_once(':').is_some_and(|(name, _)| name.eq_ignore_ascii_case("accept"))
    };
    let fields = head.lines().filter(is_accept).filter_map(|line| Some(line.split_once(':')?.1));
    let (mut open_metrics, mut prometheus) = (0.0_f64, 0.0_f64);
    for range in fields.flat_map(|field| field.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(|it| it.strip_prefix("q=")).map_or(1.0, weight);
        let of = |names: &[&str]| if names.contains(&&*kind) { weight } else { 0.0 };
        open_metrics =
            open_metrics.max(of(&["application/openmetrics-text", "application/*", "*/*"]));
        prometheus = prometheus.max(of(&["text/plain", "text/*", "*/*"]));
    }
    if prometheus > open_metrics { Format::Prometheus } else { Format::OpenMetrics }
}

/// Parses a weight; an invalid one counts as zero.
fn weight(text: &str) -> f64 {
    let weight = text.trim().parse().ok();
    weight.filter(|it| (0.0..=1.0).contains(it)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_the_one_that_the_client_prefers() {
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3";
        for (accept, format) in [
            ("", Format::OpenMetrics),
            ("Accept: */*\r\n", Format::OpenMetrics),
            (&*format!("Accept: {prometheus}\r\n"), Format::OpenMetrics),
            ("accept: text/plain; version=0.0.4\r\n", Format::Prometheus),
            ("ACCEPT: text/html\r\nAccept: text/*;q=0.1\r\n", Format::Prometheus),
            ("Accept: application/openmetrics-text;q=0.2,text/plain;q=0.9\r\n", Format::Prometheus),
            ("Accept: text/plain;q=x\r\n", Format::OpenMetrics),
            ("Accept: image/png\r\n", Format::OpenMetrics),
        ] {
            let head = format!("GET /metrics HTTP/1.1\r\n{accept}\r\n");
            assert_eq!(asked_for(&head), format, "{accept}");
        }
    }
}
