// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Locates the fields of a tracepoint from its `format` file, because kernels differ.

/// The error if a format file lacks a necessary part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the format of the tracepoint `{event}` has no {what}")]
pub struct BadFormat {
    /// The tracepoint's name.
    pub event: String,
    /// The missing part.
    pub what: String,
}

/// A field of a record: its first byte and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    offset: usize,
    size: usize,
}

/// The number and the fields of a tracepoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFormat {
    name: String,
    /// The number with which its records begin.
    pub(crate) id: u16,
    fields: Vec<(String, Field)>,
}

impl EventFormat {
    /// Reads a format file.
    ///
    /// # Errors
    /// [`BadFormat`] if it has no name or no number.
    pub fn parse(text: &str) -> Result<Self, BadFormat> {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            let missing = || BadFormat { event: "?".to_owned(), what: key.to_owned() };
            line.map(str::trim).ok_or_else(missing)
        };
        let name = value("name:")?.to_owned();
        let id = value("ID:")?.parse();
        let id = id.map_err(|_| BadFormat { event: name.clone(), what: "ID:".to_owned() })?;
        let fields = text.lines().filter_map(|line| line.trim_start().strip_prefix("field:"));
        Ok(Self { name, id, fields: fields.filter_map(field).collect() })
    }

    /// Returns the field of this name.
    ///
    /// # Errors
    /// [`BadFormat`] if the kernel's tracepoint has no field of this name.
    pub(crate) fn field(&self, name: &str) -> Result<Field, BadFormat> {
        self.optional(name)
            .ok_or_else(|| BadFormat { event: self.name.clone(), what: format!("field `{name}`") })
    }

    /// Returns the field of this name; `None` if this kernel does not have it.
    pub(crate) fn optional(&self, name: &str) -> Option<Field> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| *field)
    }
}

/// Parses a line such as `char rwbs[8]; offset:28; size:8; signed:0;`.
fn field(text: &str) -> Option<(String, Field)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next()?.split_whitespace().last()?;
    let name = name.split('[').next()?.to_owned();
    let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse().ok();
    Some((name, Field { offset: number("offset:")?, size: number("size:")? }))
}

impl Field {
    /// Returns the field's bytes in a record; empty if the record is too short.
    pub(crate) fn bytes(self, record: &[u8]) -> &[u8] {
        record.get(self.offset..self.offset + self.size).unwrap_or_default()
    }

    /// Returns an unsigned little-endian number of at most 8 bytes.
    pub(crate) fn number(self, record: &[u8]) -> u64 {
        let mut whole = [0; 8];
        for (to, from) in whole.iter_mut().zip(self.bytes(record)) {
            *to = *from;
        }
        u64::from_le_bytes(whole)
    }

    /// Returns the field's text up to its first zero byte.
    pub(crate) fn text(self, record: &[u8]) -> String {
        let bytes = self.bytes(record).split(|&byte| byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: block_bio_queue\nID: 1300\nformat:\n\tfield:unsigned short common_type;\t\
                          offset:0;\tsize:2;\tsigned:0;\n\tfield:char rwbs[8];\toffset:4;\tsize:8;\tsigned:0;\n";

    #[test]
    fn fields_are_found_by_name() {
        let format = EventFormat::parse(FORMAT).unwrap();
        assert_eq!((format.name.as_str(), format.id), ("block_bio_queue", 1300));
        let letters = format.field("rwbs").unwrap();
        assert_eq!(letters.text(b"\x01\x02\0\0FWS\0\0\0\0\0"), "FWS");
        assert_eq!(format.field("common_type").unwrap().number(b"\x01\x02\0\0"), 0x201);
        let missing = format.field("ioprio").unwrap_err().to_string();
        assert_eq!(missing, "the format of the tracepoint `block_bio_queue` has no field `ioprio`");
        assert!(EventFormat::parse("name: x\n").is_err());
    }
}
