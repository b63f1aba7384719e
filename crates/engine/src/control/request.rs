// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What may be asked, as it is written.

use serde::Deserialize;

use super::answers::Fault;

/// What a peer asks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    Status,
    Statistics,
    Missed { export: String },
    Ended { export: String },
    Stop,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRequest {
    #[serde(rename = "do")]
    verb: String,
    export: Option<String>,
}

const EXAMPLE: &str = "write for example {\"do\":\"status\"}";
const VERBS: &str = "write one of status, statistics, missed, ended, stop";

impl Request {
    /// Reads one line.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Fault> {
        let line = line.trim_ascii();
        // A list of the fields in their order would be read as an object.
        if line.first() != Some(&b'{') {
            return Err(Fault::new("a request is one JSON object on one line", EXAMPLE));
        }
        let raw: RawRequest = serde_json::from_slice(line)
            .map_err(|error| Fault::new(format!("no request: {error}"), EXAMPLE))?;
        let of_export = |make: fn(String) -> Self, export: Option<String>| {
            let example = "add its name: {\"do\":\"missed\",\"export\":\"NAME\"}";
            export.map(make).ok_or_else(|| Fault::new("about which export is not said", example))
        };
        match (raw.verb.as_str(), raw.export) {
            ("missed", export) => of_export(|export| Self::Missed { export }, export),
            ("ended", export) => of_export(|export| Self::Ended { export }, export),
            ("status" | "statistics" | "stop", Some(_)) => {
                Err(Fault::new("this is about all exports", "leave `export` out"))
            }
            ("status", None) => Ok(Self::Status),
            ("statistics", None) => Ok(Self::Statistics),
            ("stop", None) => Ok(Self::Stop),
            _ => Err(Fault::new("it is not known how to do that", VERBS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn requests_are_objects_with_known_fields() {
        let parse = |text: &str| Request::parse(text.as_bytes());
        assert_eq!(parse("{\"do\":\"status\"}\r\n").unwrap(), Request::Status);
        let missed = parse("  {\"export\": \"a \\u00e9\", \"do\": \"missed\"}").unwrap();
        assert_eq!(missed, Request::Missed { export: "a \u{e9}".to_owned() });
        for (text, said) in [
            ("", "one JSON object"),
            ("[\"status\",null]", "one JSON object"),
            ("{\"do\":\"status\"", "EOF"),
            ("{\"do\":\"status\"} {}", "trailing"),
            ("{\"do\":\"status\",\"do\":\"stop\"}", "duplicate"),
            ("{\"do\":\"status\",\"now\":1}", "unknown field"),
            ("{\"do\":\"Stop\"}", "not known"),
            ("{\"do\":7}", "invalid type"),
            ("{\"do\":\"missed\"}", "which export"),
            ("{\"do\":\"stop\",\"export\":\"a\"}", "all exports"),
        ] {
            let fault = parse(text).expect_err(text);
            assert!(fault.error.contains(said), "{text}: {fault:?}");
        }
    }

    /// What looks like a request: pieces of them in any order.
    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just("{".to_owned()),
            Just("}".to_owned()),
            Just("\"do\":".to_owned()),
            Just("\"export\":".to_owned()),
            Just("\"missed\"".to_owned()),
            Just("\"stop\"".to_owned()),
            Just(",".to_owned()),
            "[\\x00-\\x7f]{0,6}",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        /// Goal: no bytes make it panic, and what it takes is what was said.
        #[test]
        fn any_bytes_are_answered(line in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            pieces(),
            (0_usize..5000).prop_map(|depth| vec![b'['; depth]),
            (0_usize..5000).prop_map(|depth| "{\"do\":".repeat(depth).into_bytes()),
        ]) {
            if let Ok(request) = Request::parse(&line) {
                let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
                let verb = match request {
                    Request::Status => "status",
                    Request::Statistics => "statistics",
                    Request::Missed { .. } => "missed",
                    Request::Ended { .. } => "ended",
                    Request::Stop => "stop",
                };
                prop_assert_eq!(&value["do"], verb);
            }
        }
    }
}
