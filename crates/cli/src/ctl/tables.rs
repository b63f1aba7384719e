// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A service's answers for people.

use serde_json::Value;
use tidegate_model::{Bytes, Duration};

use crate::arguments::CtlVerb;
use crate::show::{self, labelled, out, outln};

/// A text that came over a socket: it must not move the cursor.
pub(crate) fn text(value: &Value) -> String {
    let is_safe = |c: char| if c.is_control() { '?' } else { c };
    value.as_str().unwrap_or("?").chars().map(is_safe).collect()
}

/// A count.
pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// A time of so many nanoseconds, `-` where there is none.
pub(crate) fn time(value: &Value) -> String {
    show::bound(value.as_u64().map(Duration::from_ns))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Whether everything that was agreed is proved, still stands, and was answered.
pub(super) fn is_guaranteed(status: &Value) -> bool {
    stands(status) && failed(status) == 0
}

fn with_contract(status: &Value) -> impl Iterator<Item = &Value> {
    list(&status["exports"]).iter().filter(|export| !export["contract"].is_null())
}

fn stands(status: &Value) -> bool {
    let stands = |export: &Value| export["bound_ns"].is_u64() && export["is_degraded"] == false;
    with_contract(status).all(stands)
}

/// Requests of exports with a contract that the drive did not carry out.
fn failed(status: &Value) -> u64 {
    with_contract(status).map(|export| number(&export["failed"])).sum()
}

pub(super) fn print_status(status: &Value) {
    labelled("Policy", &text(&status["policy"]));
    labelled("Running for", &elapsed(number(&status["uptime_ns"])));
    labelled("Host", &text(&status["real_time"]["text"]));
    labelled("Guarantee", &guarantee(status));
    outln!();
    let exports = list(&status["exports"]);
    let cells = |of: fn(&Value) -> String| exports.iter().map(of).collect::<Vec<_>>();
    let columns = [
        ("export", cells(|export| text(&export["name"]))),
        ("contract", cells(contract)),
        ("beyond it", cells(beyond)),
        ("size", cells(|export| Bytes::new(number(&export["size_bytes"])).to_string())),
        ("deadline", cells(|export| time(&export["contract"]["deadline_ns"]))),
        ("bound", cells(|export| time(&export["bound_ns"]))),
    ];
    out!("{}", show::columns(&columns, 3));
}

fn guarantee(status: &Value) -> String {
    let what = match (stands(status), failed(status)) {
        _ if with_contract(status).next().is_none() => "none was asked for",
        (true, 0) => "stands: no response takes longer than its bound",
        (true, count) => {
            let requests = show::count(usize::try_from(count).unwrap_or(usize::MAX), "request");
            return format!(
                "stands for what was answered; {requests} with a contract failed: see the log"
            );
        }
        (false, _) if status["is_degraded"] == true => {
            "DEGRADED: a bound was exceeded, or the drive broke its table: see `statistics`, and restart"
        }
        (false, _) => "not proved for every contract",
    };
    what.to_owned()
}

fn contract(export: &Value) -> String {
    let terms = &export["contract"];
    let access = if export["is_read_only"] == true { "read-only, " } else { "" };
    if terms.is_null() {
        return format!("{access}best effort, weight {}", number(&export["weight"]));
    }
    let requests = number(&terms["requests"]);
    let plural = if requests == 1 { "" } else { "s" };
    let what = terms["op"].as_str().map_or(format!("read{plural} or write"), str::to_owned);
    let size = Bytes::new(number(&terms["size_bytes_max"]));
    let period = Duration::from_ns(number(&terms["period_ns"]));
    format!("{access}{requests} {what}{plural} of {size} each {period}")
}

fn beyond(export: &Value) -> String {
    export["contract"]["beyond"].as_str().unwrap_or("-").to_owned()
}

pub(super) fn print_statistics(seen: &Value) {
    let exports = list(&seen["exports"]);
    let cells = |of: fn(&Value) -> String| exports.iter().map(of).collect::<Vec<_>>();
    let columns = [
        ("export", cells(|export| text(&export["name"]))),
        ("requests", cells(|export| number(&export["requests"]).to_string())),
        ("misses", cells(|export| number(&export["misses"]).to_string())),
        ("beyond", cells(|export| number(&export["beyond"]).to_string())),
        ("failed", cells(|export| number(&export["failed"]).to_string())),
        ("outstanding", cells(|export| number(&export["outstanding"]).to_string())),
        ("tokens", cells(tokens)),
        ("p50", cells(|export| time(&export["response_ns_p50"]))),
        ("p99", cells(|export| time(&export["response_ns_p99"]))),
        ("p99.9", cells(|export| time(&export["response_ns_p999"]))),
        ("max", cells(|export| time(&export["response_ns_max"]))),
        ("bound", cells(|export| time(&export["bound_ns"]))),
        ("data", cells(|export| megabytes(number(&export["transferred_bytes"])))),
        ("flushes", cells(|export| number(&export["flushes"]).to_string())),
    ];
    outln!("In {}:", elapsed(number(&seen["uptime_ns"])));
    outln!();
    out!("{}", show::columns(&columns, 1));
    outln!();
    labelled("Drive", &drive(&seen["drive"]));
}

/// `3 of 4`.
pub(crate) fn tokens(export: &Value) -> String {
    match number(&export["tokens_max"]) {
        0 => "-".to_owned(),
        most => format!("{} of {most}", number(&export["tokens"])),
    }
}

/// What the drive does and did.
pub(crate) fn drive(drive: &Value) -> String {
    let overruns = number(&drive["overruns"]);
    let worst = match overruns {
        0 => String::new(),
        _ => format!(", by at most {}", time(&drive["overrun_ns_max"])),
    };
    let stalls = match number(&drive["stalls"]) {
        0 => String::new(),
        count => format!("; nothing came back for seconds, {count} times"),
    };
    format!(
        "{} in flight; {} batches, longest {}; {overruns} longer than its table says{worst}{stalls}",
        number(&drive["in_flight"]),
        number(&drive["batches"]),
        time(&drive["batch_ns_max"]),
    )
}

pub(super) fn print_heard(answer: &Value) {
    if answer["is_heard"] == true {
        outln!("It is heard by the regulator of best effort.");
    } else {
        outln!("It changes nothing: no regulator of this service is steered by notices (mdn is).");
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{}MB", bytes / 1_000_000, bytes / 100_000 % 10)
}

/// `1:02:03`.
pub(crate) fn elapsed(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Why a change is not made, and what would be or what to do, if that is the answer.
pub(super) fn refusal(line: &str, verb: CtlVerb) -> Option<String> {
    let answer: Value = serde_json::from_str(line).ok()?;
    if answer["is_refused"] != true {
        return None;
    }
    let what = if verb == CtlVerb::Remove { "Not removed" } else { "Not admitted" };
    let fits = list(&answer["would_fit"]).iter().map(|entry| format!("\n  {}", text(entry)));
    let fits = fits.collect::<String>();
    let instead = match (fits.as_str(), answer["help"].as_str()) {
        ("", None | Some("")) => String::new(),
        ("", Some(_)) => format!("\nInstead: {}.", text(&answer["help"])),
        (fits, _) => format!("\nWould fit:{fits}"),
    };
    Some(format!("{what}: {}.{instead}", text(&answer["error"])))
}

pub(super) fn print_admitted(answer: &Value, what: &str) {
    let (size, offset) = (number(&answer["size_bytes"]), number(&answer["offset_bytes"]));
    outln!(
        "`{}` {what}: {} of the store, from {} on, under `{}`.",
        text(&answer["export"]),
        Bytes::new(size),
        Bytes::new(offset),
        text(&answer["policy"])
    );
    print_bounds(answer);
}

pub(super) fn print_removed(answer: &Value) {
    let free = if answer["is_free"] == true {
        "its place and its share of the drive are free"
    } else {
        "its place and its share of the drive are free after the next change: the others left no \
         quiet instant"
    };
    outln!("`{}` is removed; {free}.", text(&answer["export"]));
    print_bounds(answer);
}

/// What everybody is promised now.
fn print_bounds(answer: &Value) {
    let exports = list(&answer["bounds"]);
    let cells = |of: fn(&Value) -> String| exports.iter().map(of).collect::<Vec<_>>();
    let columns = [
        ("export", cells(|export| text(&export["name"]))),
        ("deadline", cells(|export| time(&export["deadline_ns"]))),
        ("bound", cells(|export| time(&export["bound_ns"]))),
    ];
    outln!();
    out!("{}", show::columns(&columns, 1));
    outln!();
    outln!("This holds {}.", text(&answer["note"]));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_says_what_would_fit_or_what_to_do_and_a_fault_is_none() {
        let refusal = |answer: Value, verb| refusal(&answer.to_string(), verb);
        let no = json!({ "ok": false, "error": "no", "help": "wait", "is_refused": true });
        assert_eq!(
            refusal(no.clone(), CtlVerb::Remove).as_deref(),
            Some("Not removed: no.\nInstead: wait.")
        );
        let mut less = no;
        less["would_fit"] = json!(["half"]);
        let said = refusal(less, CtlVerb::Admit);
        assert_eq!(said.as_deref(), Some("Not admitted: no.\nWould fit:\n  half"));
        let fault = json!({ "ok": false, "error": "what?", "help": "write it so" });
        assert_eq!(refusal(fault, CtlVerb::Admit), None);
    }

    #[test]
    fn what_failed_is_in_the_sentence_about_the_guarantee() {
        let status = |failed: u64, is_degraded: bool| {
            let contract = json!({ "contract": {}, "bound_ns": 1, "failed": failed,
                                   "is_degraded": is_degraded });
            let other = json!({ "contract": null, "bound_ns": null, "failed": 7,
                                "is_degraded": false });
            json!({ "is_degraded": is_degraded, "exports": [contract, other] })
        };
        for (failed, is_degraded, is_good, said) in [
            (0, false, true, "stands: no response"),
            (1, false, false, "stands for what was answered; 1 request with a contract failed"),
            (8, true, false, "DEGRADED"),
        ] {
            let status = status(failed, is_degraded);
            assert_eq!(is_guaranteed(&status), is_good, "{status}");
            assert!(guarantee(&status).starts_with(said), "{}", guarantee(&status));
        }
    }
}
