// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the page is valid OpenMetrics 1.0 with the right values. Method: a strict parser of its
//! grammar.

#![expect(clippy::float_cmp, reason = "the figures are integers, or are read as they were written")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use super::Metrics;
use crate::control::tests::Fixture;
use crate::service::View;

/// A sample: its labels and its value.
type Sample = (BTreeMap<String, String>, f64);

/// A parsed page: types, and samples by full name.
#[derive(Debug, Default)]
struct Page {
    types: BTreeMap<String, String>,
    samples: BTreeMap<String, Vec<Sample>>,
}

impl Page {
    /// Parses a page of OpenMetrics, or describes its fault.
    fn parse(text: &str) -> Result<Self, String> {
        let body = text.strip_suffix("# EOF\n").ok_or("no `# EOF` at its end")?;
        Self::parse_body(body, |kind| match kind {
            "counter" => Some(&["_total"]),
            "gauge" => Some(&[""]),
            "info" => Some(&["_info"]),
            "histogram" => Some(&["_bucket", "_sum", "_count"]),
            _ => None,
        })
    }

    /// Parses a page of Prometheus' text format: fewer types, and a counter's own name.
    fn parse_prometheus(text: &str) -> Result<Self, String> {
        Self::parse_body(text, |kind| match kind {
            "counter" | "gauge" => Some(&[""]),
            "histogram" => Some(&["_bucket", "_sum", "_count"]),
            _ => None,
        })
    }

    /// Parses the lines of a page in which samples of a type have these suffixes.
    fn parse_body(
        body: &str,
        suffixes: impl Fn(&str) -> Option<&'static [&'static str]>,
    ) -> Result<Self, String> {
        let mut page = Self::default();
        let (mut helped, mut family) = (BTreeSet::new(), String::new());
        for line in body.lines() {
            let fault = |what: &str| Err(format!("{what}: {line}"));
            if let Some(rest) = line.strip_prefix("# ") {
                let mut words = rest.splitn(3, ' ');
                let (what, name) = (words.next(), words.next().unwrap_or_default());
                match (what, words.next()) {
                    (Some("HELP"), Some(_)) if helped.insert(name.to_owned()) => {}
                    (Some("TYPE"), Some(kind)) => {
                        family = name.to_owned();
                        if page.types.insert(family.clone(), kind.to_owned()).is_some() {
                            return fault("a second type");
                        }
                    }
                    _ => return fault("no HELP or TYPE"),
                }
                continue;
            }
            let (name, labels, value) = sample(line)?;
            let suffixes = page.types.get(&family).and_then(|kind| suffixes(kind));
            let Some(suffixes) = suffixes else { return fault("of no type") };
            if !helped.contains(&family)
                || !suffixes.iter().any(|suffix| name == format!("{family}{suffix}"))
            {
                return fault("not of the family before it");
            }
            let of_name = page.samples.entry(name).or_default();
            if of_name.iter().any(|(others, _)| *others == labels) {
                return fault("said twice");
            }
            of_name.push((labels, value));
        }
        page.check_histograms()?;
        Ok(page)
    }

    /// Checks that buckets grow, end with +Inf, and agree with the count.
    fn check_histograms(&self) -> Result<(), String> {
        for (name, _) in self.types.iter().filter(|(_, kind)| *kind == "histogram") {
            for (labels, count) in &self.samples[&format!("{name}_count")] {
                let of_these = |sample: &&Sample| {
                    let mut others = sample.0.clone();
                    others.remove("le").is_some() && others == *labels
                };
                let buckets: Vec<_> =
                    self.samples[&format!("{name}_bucket")].iter().filter(of_these).collect();
                let is_growing = buckets.is_sorted_by(|a, b| {
                    a.1 <= b.1 && number(&a.0["le"]).unwrap() < number(&b.0["le"]).unwrap()
                });
                let last = buckets.last().ok_or("no buckets")?;
                if !is_growing || last.0["le"] != "+Inf" || last.1 != *count {
                    return Err(format!("{name} {labels:?}: {buckets:?}"));
                }
            }
        }
        Ok(())
    }

    fn value(&self, name: &str, export: &str) -> f64 {
        let of_export = |sample: &&Sample| sample.0.get("export").is_some_and(|it| it == export);
        self.samples[name].iter().find(of_export).unwrap_or_else(|| panic!("{name} {export}")).1
    }
}

fn number(text: &str) -> Result<f64, String> {
    match text {
        "+Inf" => Ok(f64::INFINITY),
        _ => text.parse().map_err(|_| format!("no number: {text}")),
    }
}

/// Parses `name{label="value",..} 1.5`.
fn sample(line: &str) -> Result<(String, BTreeMap<String, String>, f64), String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = line.find(|c| !is_name(c)).ok_or("a name alone")?;
    let (name, mut rest) = line.split_at(end);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("no name: {line}"));
    }
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"").ok_or(format!("no label: {line}"))?;
            if label.is_empty() || label.contains(|c| !is_name(c)) {
                return Err(format!("no label `{label}`: {line}"));
            }
            let (value, after) = quoted(after).ok_or(format!("no end: {line}"))?;
            labels.insert(label.to_owned(), value);
            rest = after.strip_prefix(',').unwrap_or(after);
        }
        rest = &rest[1..];
    }
    let value = rest.strip_prefix(' ').ok_or(format!("no value: {line}"))?;
    Ok((name.to_owned(), labels, number(value)?))
}

/// Reads up to the first quote that is not escaped.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                c @ ('"' | '\\') => value.push(c),
                _ => return None,
            },
            c => value.push(c),
        }
    }
    None
}

/// Sends a request; returns the reply's head and body.
pub(crate) fn get(address: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_mins(1))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

fn open(view: View) -> Metrics {
    Metrics::open("127.0.0.1:0".parse().unwrap(), view, Arc::new(|_: &str| ())).unwrap()
}

#[test]
fn the_page_is_openmetrics_and_tells_what_was_served() {
    let fixture = Fixture::named("cam\u{e9}ra \\ 1");
    let name = "cam\u{e9}ra \\ 1";
    fixture.service.export(name).unwrap().write(0, &[1; 4096], true).unwrap();
    fixture.service.export("rest").unwrap().read(0, &mut [0; 8192]).unwrap();
    let metrics = open(fixture.service.view());
    let (head, body) = get(metrics.address(), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("application/openmetrics-text; version=1.0.0; charset=utf-8"), "{head}");
    let page = Page::parse(&body).unwrap_or_else(|fault| panic!("{fault}\n{body}"));
    assert_eq!(page.value("tidegate_export_transferred_bytes_total", name), 4096.0);
    assert_eq!(page.value("tidegate_export_transferred_bytes_total", "rest"), 8192.0);
    assert_eq!(page.value("tidegate_export_flushes_total", name), 1.0);
    let unexplained = page.value("tidegate_export_unexplained_total", name);
    assert!(unexplained <= page.value("tidegate_export_exceeded_total", name));
    assert_eq!(page.value("tidegate_export_response_seconds_count", name), 1.0);
    assert!(page.value("tidegate_export_response_seconds_sum", "rest") > 0.0);
    let bound_ms = 1000.0 * page.value("tidegate_export_bound_seconds", name);
    assert!((1.0..20.0).contains(&bound_ms), "{bound_ms}");
    assert!(page.value("tidegate_export_tokens", name) <= 2.0);
    assert_eq!(page.samples["tidegate_export_degraded"].len(), 1);
    assert_eq!(page.types["tidegate_drive_overrun_seconds"], "counter");
    for (name, kind) in &page.types {
        assert!(name.starts_with("tidegate_"), "{name} {kind}");
    }
}

/// Goal: a client that asks for Prometheus' text format gets the same samples in that format.
/// Method: both formats of one service, each with a parser of its own grammar.
#[test]
fn the_page_is_prometheus_text_for_those_who_ask_for_it() {
    let fixture = Fixture::named("camera");
    let metrics = open(fixture.service.view());
    let request = |accept: &str| format!("GET /metrics HTTP/1.1\r\n{accept}\r\n");
    let (head, body) = get(metrics.address(), &request("Accept: text/plain;version=0.0.4\r\n"));
    assert!(head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
    let page = Page::parse_prometheus(&body).unwrap_or_else(|fault| panic!("{fault}\n{body}"));
    assert_eq!(page.types["tidegate_export_misses_total"], "counter");
    assert_eq!(page.types["tidegate_service_info"], "gauge");
    let (_, other) = get(metrics.address(), &request(""));
    let other_page = Page::parse(&other).unwrap();
    assert!(page.samples.keys().eq(other_page.samples.keys()));
    assert!(Page::parse_prometheus(&other).is_err(), "canary: the grammars differ");
}

/// Canary: the parser detects each fault that it checks for.
#[test]
fn the_parser_of_this_test_refuses_what_is_no_page() {
    let good = "# HELP a b.\n# TYPE a counter\na_total{x=\"1\"} 2\n# EOF\n";
    Page::parse(good).unwrap();
    for (from, to) in [
        ("# EOF\n", ""),
        ("# TYPE a counter\n", ""),
        ("# HELP a b.\n", ""),
        ("a_total{", "a{"),
        ("a_total{x=\"1\"} 2\n", "a_total{x=\"1\"} 2\na_total{x=\"1\"} 3\n"),
        ("\"1\"", "\"1"),
        ("\"1\"", "\"\\q\""),
        (" 2\n", " two\n"),
    ] {
        let broken = good.replace(from, to);
        assert!(Page::parse(&broken).is_err(), "{broken}");
    }
}

#[test]
fn anything_but_the_page_is_refused() {
    let fixture = Fixture::new();
    let metrics = open(fixture.service.view());
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", "404"),
        ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
        ("GET /metrics\r\n\r\n", "400"),
        ("\0\u{1}\r\n\r\n", "400"),
        ("HEAD /metrics HTTP/1.0\n\n", "200"),
    ] {
        let (head, _) = get(metrics.address(), request);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}: {head}");
    }
    let (_, body) = get(metrics.address(), "HEAD /metrics HTTP/1.1\r\n\r\n");
    assert_eq!(body, "");
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let error = Metrics::open(everywhere, fixture.service.view(), Arc::new(|_: &str| ()));
    assert!(error.unwrap_err().to_string().contains("this machine only"));
}
