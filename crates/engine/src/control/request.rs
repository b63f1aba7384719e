// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parses the requests of the control socket.

use serde_json::Value;
use tidegate_model::{NewExport, ServeFile};

use super::answers::Fault;
use super::wire::{Asked, ExportPart, Verb};

/// A peer's request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    Status,
    Statistics,
    Distributions,
    Missed {
        export: String,
    },
    Ended {
        export: String,
    },
    /// Asks whether the export would be admitted.
    Check {
        export: Box<NewExport>,
    },
    Admit {
        export: Box<NewExport>,
    },
    Remove {
        export: String,
    },
    Stop,
}

const EXAMPLE: &str = "write for example {\"do\":\"status\"}";

impl Request {
    /// Parses one line as a request.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Fault> {
        let line = line.trim_ascii();
        // serde would also accept a list of the fields, in order, as an object.
        if line.first() != Some(&b'{') {
            return Err(Fault::new("a request is one JSON object on one line", EXAMPLE));
        }
        let raw: Asked = serde_json::from_slice(line)
            .map_err(|error| Fault::new(format!("not a valid request: {error}"), EXAMPLE))?;
        let export = raw.export;
        let verb = Verb::from_name(&raw.verb).ok_or_else(unknown)?;
        if verb.export() == ExportPart::Absent && export.is_some() {
            return Err(Fault::new("this request is about all exports", "leave `export` out"));
        }
        Ok(match verb {
            Verb::Status => Self::Status,
            Verb::Statistics => Self::Statistics,
            Verb::Distributions => Self::Distributions,
            Verb::Missed => Self::Missed { export: name(verb, export)? },
            Verb::Ended => Self::Ended { export: name(verb, export)? },
            Verb::Check => Self::Check { export: new_export(export)? },
            Verb::Admit => Self::Admit { export: new_export(export)? },
            Verb::Remove => Self::Remove { export: name(verb, export)? },
            Verb::Stop => Self::Stop,
        })
    }
}

fn unknown() -> Fault {
    let verbs = Verb::ALL.map(Verb::name).join(", ");
    Fault::new("unknown request", format!("write one of {verbs}"))
}

fn name(verb: Verb, export: Option<Value>) -> Result<String, Fault> {
    match export {
        Some(Value::String(name)) => Ok(name),
        _ => Err(Fault::new(
            "the request does not name an export",
            format!("add its name: {{\"do\":\"{verb}\",\"export\":\"NAME\"}}"),
        )),
    }
}

/// Parses an export with the keys and units of a serve file's `[[export]]`.
fn new_export(export: Option<Value>) -> Result<Box<NewExport>, Fault> {
    let Some(export @ Value::Object(_)) = export else {
        return Err(Fault::new("the request does not describe the export", ADMIT_EXAMPLE));
    };
    let table: toml::Table = serde_json::from_value(export)
        .map_err(|error| Fault::new(format!("not a valid export: {error}"), ADMIT_EXAMPLE))?;
    let new = ServeFile::parse_export(&table.to_string());
    new.map(Box::new).map_err(|error| {
        let help = error.help.unwrap_or_else(|| ADMIT_EXAMPLE.to_owned());
        Fault::new(error.message, help)
    })
}

const ADMIT_EXAMPLE: &str = "write the keys of an [[export]], for example \
    {\"do\":\"admit\",\"export\":{\"name\":\"camera-2\",\"size\":\"1GiB\",\"contract\":\
    {\"period\":\"300ms\",\"size_max\":\"128KiB\"}}}";

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
            ("{\"do\":\"Stop\"}", "unknown request"),
            ("{\"do\":7}", "invalid type"),
            ("{\"do\":\"missed\"}", "does not name"),
            ("{\"do\":\"stop\",\"export\":\"a\"}", "all exports"),
            ("{\"do\":\"remove\"}", "does not name"),
            ("{\"do\":\"remove\",\"export\":{\"name\":\"a\"}}", "does not name"),
            ("{\"do\":\"admit\",\"export\":\"a\"}", "does not describe"),
            ("{\"do\":\"admit\",\"export\":{\"name\":\"a\",\"size\":null}}", "not a valid export"),
            (
                "{\"do\":\"admit\",\"export\":{\"name\":\"a\",\"size\":\"1MiB\"}}",
                "neither a contract",
            ),
            ("{\"do\":\"check\",\"export\":{\"name\":\"a\",\"sise\":\"1MiB\"}}", "unknown field"),
        ] {
            let fault = parse(text).expect_err(text);
            assert!(fault.error.contains(said), "{text}: {fault:?}");
        }
    }

    #[test]
    fn an_export_is_written_as_in_a_serve_file() {
        let line = br#"{"do":"admit","export":{"name":"c \"2\"","size":"1GiB","offset":"4KiB",
            "contract":{"period":"300ms","requests":2,"size_max":"128KiB","op":"write"},
            "beyond":"best-effort","weight":3}}"#;
        let line: Vec<u8> = line.iter().copied().filter(|&byte| byte != b'\n').collect();
        let Request::Admit { export } = Request::parse(&line).unwrap() else { panic!("{line:?}") };
        assert_eq!((export.name.as_str(), export.share.weight), ("c \"2\"", 3));
        let (offset, size) =
            (tidegate_model::Bytes::from_kib(4), tidegate_model::Bytes::from_kib(1 << 20));
        assert_eq!(export.place, tidegate_model::ExportPlace::At { offset, size });
        let terms = export.contract.unwrap();
        assert_eq!((terms.requests, terms.deadline), (2, tidegate_model::Duration::from_ms(300)));
        assert_eq!(terms.beyond, tidegate_model::Beyond::BestEffort);
    }

    /// Makes byte strings that resemble requests: pieces of requests in any order.
    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just("{".to_owned()),
            Just("}".to_owned()),
            Just("\"do\":".to_owned()),
            Just("\"export\":".to_owned()),
            Just("\"missed\"".to_owned()),
            Just("\"stop\"".to_owned()),
            Just("\"admit\",\"export\":{\"name\":\"a\",\"size\":\"1MiB\"".to_owned()),
            Just(",\"best_effort\":true".to_owned()),
            Just(",".to_owned()),
            "[\\x00-\\x7f]{0,6}",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        /// Goal: no bytes cause a panic, and an accepted request equals the one that was written.
        /// Method: random bytes and pieces of requests.
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
                    Request::Distributions => "distributions",
                    Request::Missed { .. } => "missed",
                    Request::Ended { .. } => "ended",
                    Request::Check { .. } => "check",
                    Request::Admit { .. } => "admit",
                    Request::Remove { .. } => "remove",
                    Request::Stop => "stop",
                };
                prop_assert_eq!(&value["do"], verb);
            }
        }
    }
}
