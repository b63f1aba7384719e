// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the page is valid OpenMetrics 1.0 with the right values. Method: a strict parser of the
//! OpenMetrics grammar.

#![expect(clippy::float_cmp, reason = "the figures are integers, or are read as they were written")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use tidegate_metrics::page::Page;

use super::Metrics;
use crate::control::tests::Fixture;
use crate::service::View;

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
    assert_eq!(page.value("tidegate_export_transferred_bytes_total", &[("export", name)]), 4096.0);
    assert_eq!(
        page.value("tidegate_export_transferred_bytes_total", &[("export", "rest")]),
        8192.0
    );
    assert_eq!(page.value("tidegate_export_flushes_total", &[("export", name)]), 1.0);
    let unexplained = page.value("tidegate_export_unexplained_total", &[("export", name)]);
    assert!(unexplained <= page.value("tidegate_export_exceeded_total", &[("export", name)]));
    assert_eq!(page.value("tidegate_export_response_seconds_count", &[("export", name)]), 1.0);
    assert!(page.value("tidegate_export_response_seconds_sum", &[("export", "rest")]) > 0.0);
    let bound_ms = 1000.0 * page.value("tidegate_export_bound_seconds", &[("export", name)]);
    assert!((1.0..20.0).contains(&bound_ms), "{bound_ms}");
    assert!(page.value("tidegate_export_tokens", &[("export", name)]) <= 2.0);
    assert_eq!(page.count("tidegate_export_degraded"), 1);
    assert_eq!(page.types()["tidegate_drive_overrun_seconds"], "counter");
    for (name, kind) in page.types() {
        assert!(name.starts_with("tidegate_"), "{name} {kind}");
    }
}

/// Goal: a client that asks for Prometheus' text format gets the same samples in that format.
/// Method: fetch both formats from one service, and parse each by its own grammar.
#[test]
fn the_page_is_prometheus_text_for_those_who_ask_for_it() {
    let fixture = Fixture::named("camera");
    let metrics = open(fixture.service.view());
    let request = |accept: &str| format!("GET /metrics HTTP/1.1\r\n{accept}\r\n");
    let (head, body) = get(metrics.address(), &request("Accept: text/plain;version=0.0.4\r\n"));
    assert!(head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
    let page = Page::parse_prometheus(&body).unwrap_or_else(|fault| panic!("{fault}\n{body}"));
    assert_eq!(page.types()["tidegate_export_misses_total"], "counter");
    assert_eq!(page.types()["tidegate_service_info"], "gauge");
    let (_, other) = get(metrics.address(), &request(""));
    let other_page = Page::parse(&other).unwrap();
    assert!(page.samples().eq(other_page.samples()));
    assert!(Page::parse_prometheus(&other).is_err(), "canary: the grammars differ");
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
