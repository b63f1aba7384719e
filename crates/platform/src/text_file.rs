// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads the text of a named file, and refuses files that may never end.
//!
//! Devices and pipes can be endless, and a file of gigabytes is not an input file. Such files are
//! refused before they fill the memory, and the error names their kind.

use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use tidegate_model::Bytes;

/// The largest accepted size; a table of 4096 batches has about 300 KiB.
const SIZE_MAX: Bytes = Bytes::from_kib(16 << 10);

/// The reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused.
    #[error(transparent)]
    Refused(#[from] io::Error),
    /// The path is not a regular file.
    #[error("it is {what}, not a file")]
    NoFile {
        /// The kind of the object, with its article.
        what: &'static str,
    },
    /// The file is too large.
    #[error("it holds more than {SIZE_MAX}")]
    TooLarge,
    /// The contents are not text.
    #[error("it is not text: byte {offset} is not UTF-8")]
    NotText {
        /// The offset of the first byte that is not text.
        offset: usize,
    },
}

/// Returns the text of a regular file, or of the file to which a symbolic link points.
///
/// # Errors
/// If the file cannot be read, is not a regular file, is larger than 16 MiB, or is not text.
pub fn read(path: &Path) -> Result<String, ReadError> {
    // Checked before opening, because opening a pipe waits for its other end.
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() { read_open(&File::open(path)?) } else { Err(no_file(kind)) }
}

/// Returns the text of an open file.
///
/// # Errors
/// The same as [`read`].
pub fn read_open(file: &File) -> Result<String, ReadError> {
    let kind = file.metadata()?.file_type();
    if !kind.is_file() {
        return Err(no_file(kind));
    }
    let mut bytes = Vec::new();
    // The stated size is ignored: the file can grow, and some files state 0.
    file.take(SIZE_MAX.get() + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SIZE_MAX.get() {
        return Err(ReadError::TooLarge);
    }
    String::from_utf8(bytes)
        .map_err(|error| ReadError::NotText { offset: error.utf8_error().valid_up_to() })
}

fn no_file(kind: FileType) -> ReadError {
    let kinds = [
        (kind.is_dir(), "a directory"),
        (kind.is_char_device(), "a character device"),
        (kind.is_block_device(), "a block device"),
        (kind.is_fifo(), "a pipe"),
        (kind.is_socket(), "a socket"),
    ];
    let what = kinds.into_iter().find_map(|(is_it, what)| is_it.then_some(what));
    ReadError::NoFile { what: what.unwrap_or("something else") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &str) -> String {
        read(Path::new(path)).expect_err("it is no text file").to_string()
    }

    #[test]
    fn what_never_ends_is_not_begun() {
        assert_eq!(refusal("/dev/zero"), "it is a character device, not a file");
        assert_eq!(refusal("/"), "it is a directory, not a file");
    }

    #[test]
    fn text_of_16_mib_is_read_and_a_byte_more_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let size = usize::try_from(SIZE_MAX.get()).unwrap();
        fs::write(&path, vec![b'#'; size]).unwrap();
        assert_eq!(read(&path).unwrap().len(), size);
        fs::write(&path, vec![b'#'; size + 1]).unwrap();
        assert_eq!(refusal(path.to_str().unwrap()), "it holds more than 16MiB");
    }

    #[test]
    fn other_bytes_than_text_are_refused_with_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        fs::write(&path, b"depth = \xff").unwrap();
        assert_eq!(refusal(path.to_str().unwrap()), "it is not text: byte 8 is not UTF-8");
    }
}
