// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The part of HTTP that serving one page needs (RFC 9112): read a request head, reply once, then
//! close.

use tidegate_metrics::Format;

use super::accept::asked_for;
use super::exposition::exposition;
use crate::peers::{Answer, Protocol, Refusal, Reply};
use crate::service::View;

const PLAIN: &str = "text/plain; charset=utf-8";

/// The protocol that serves the metrics page.
pub(super) struct Page {
    pub(super) view: View,
}

impl Protocol for Page {
    const REQUEST_MAX: usize = 8 << 10;

    /// A request head ends with an empty line.
    fn end(input: &[u8], scanned: usize) -> Option<usize> {
        // The empty line may have begun in the part that was scanned before.
        let from = scanned.saturating_sub(3);
        let rest = input.get(from..)?;
        let long = rest.windows(4).position(|bytes| bytes == b"\r\n\r\n").map(|at| from + at + 4);
        let short = rest.windows(2).position(|bytes| bytes == b"\n\n").map(|at| from + at + 2);
        long.into_iter().chain(short).min()
    }

    fn answer(&mut self, request: &[u8]) -> Reply {
        let text = String::from_utf8_lossy(request);
        let mut words = text.lines().next().unwrap_or_default().split_ascii_whitespace();
        let (method, target) = (words.next().unwrap_or_default(), words.next());
        let path = target.map(|target| target.split('?').next().unwrap_or_default());
        let is_http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
        let bytes = match (method, path) {
            _ if !is_http => reply("400 Bad Request", PLAIN, "not an HTTP/1 request\n", true),
            ("GET" | "HEAD", Some("/metrics")) => self.page(asked_for(&text), method == "GET"),
            ("GET" | "HEAD", _) => {
                reply("404 Not Found", PLAIN, "not found: use /metrics\n", method == "GET")
            }
            _ => reply(
                "405 Method Not Allowed\r\nAllow: GET, HEAD",
                PLAIN,
                "use GET or HEAD\n",
                true,
            ),
        };
        Answer { bytes, is_last: true }.into()
    }

    fn refusal(&self, why: Refusal) -> Vec<u8> {
        match why {
            Refusal::Long => reply(
                "431 Request Header Fields Too Large",
                PLAIN,
                "the request head exceeds 8 KiB\n",
                true,
            ),
            Refusal::Slow => {
                reply("408 Request Timeout", PLAIN, "no complete request within 10 s\n", true)
            }
            Refusal::Crowded => {
                reply("503 Service Unavailable", PLAIN, "too many connections\n", true)
            }
        }
    }
}

impl Page {
    fn page(&self, format: Format, has_body: bool) -> Vec<u8> {
        match exposition(&self.view) {
            Some(page) => reply("200 OK", format.content_type(), &page.into_text(format), has_body),
            None => {
                reply("503 Service Unavailable", PLAIN, "the service does not reply\n", has_body)
            }
        }
    }
}

fn reply(status: &str, content_type: &str, text: &str, has_body: bool) -> Vec<u8> {
    let body = if has_body { text } else { "" };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        text.len()
    )
    .into_bytes()
}
