// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sends arbitrary bytes to a service's control socket: each line gets one reply, and nothing
//! panics.

use serde_json::Value;

use super::{ControlProtocol, LINE_BYTES_MAX};
use crate::peers::harness::answers;
use crate::service::harness::view;

/// Takes the first byte as the size of the pieces, and sends the other bytes in such pieces.
/// Returns the number of replies.
///
/// # Errors
/// The description of a wrong reply.
pub(crate) fn run(bytes: &[u8]) -> Result<usize, String> {
    let Some((&piece, input)) = bytes.split_first() else { return Ok(0) };
    let mut protocol = ControlProtocol::new(view(), Some(Box::new(|| ())));
    let output = answers(&mut protocol, input, usize::from(piece).max(1));
    let output = String::from_utf8(output).map_err(|error| error.to_string())?;
    let answered: Vec<&str> = output.lines().collect();
    if answered.len() != expected(input) || !(output.is_empty() || output.ends_with('\n')) {
        return Err(format!("{} replies, expected {}", answered.len(), expected(input)));
    }
    for line in &answered {
        let value: Value =
            serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let is_sound = match value["ok"] {
            Value::Bool(true) => true,
            Value::Bool(false) => value["error"].is_string() && value["help"].is_string(),
            _ => false,
        };
        if !is_sound {
            return Err(format!("not a valid reply: {line}"));
        }
    }
    Ok(answered.len())
}

/// Returns the expected number of replies: one per line, up to the first line that is too long.
fn expected(input: &[u8]) -> usize {
    let lines: Vec<&[u8]> = input.split_inclusive(|&byte| byte == b'\n').collect();
    let is_too_long = |line: &&[u8]| line.len() > LINE_BYTES_MAX;
    lines.iter().position(is_too_long).map_or(lines.len(), |first| first + 1)
}
