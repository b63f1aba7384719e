// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Says that the service is ready, and where: one line with the URI of each export.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tidegate_model::ServeFile;
use tidegate_model::serve_file::Listen;

use crate::show;

/// The longest time for which the server's start is awaited.
const PATIENCE: Duration = Duration::from_mins(1);

/// The interval between two looks.
const TICK: Duration = Duration::from_millis(20);

/// Prints the lines of [`uris`] as soon as the server listens; returns at once.
pub(super) fn announce(file: &ServeFile, socket: Option<PathBuf>) {
    let (uris, address) = (uris(file, socket.as_deref()), address(file));
    thread::spawn(move || {
        let begun = Instant::now();
        let listens = || match (&socket, &address) {
            // A connection would be a client's; an old socket was removed before.
            (Some(path), _) => path.exists(),
            (None, Some(address)) => TcpStream::connect(address).is_ok(),
            (None, None) => false,
        };
        while begun.elapsed() < PATIENCE {
            if listens() {
                return show::page(|page| {
                    for (index, uri) in uris.iter().enumerate() {
                        page.command(if index == 0 { "Ready" } else { "" }, uri);
                    }
                });
            }
            thread::sleep(TICK);
        }
    });
}

fn address(file: &ServeFile) -> Option<String> {
    match &file.listen {
        Listen::Tcp { address, .. } => Some(address.get_ref().clone()),
        Listen::Unix(_) => None,
    }
}

/// Returns the URI of each export, in the order of the file.
fn uris(file: &ServeFile, socket: Option<&Path>) -> Vec<String> {
    let names = file.export_names();
    let of = |name: &str| match (&file.listen, socket) {
        (Listen::Tcp { address, tls }, _) => {
            let scheme = if tls.is_some() { "nbds" } else { "nbd" };
            format!("{scheme}://{}/{}", address.get_ref(), encoded(name))
        }
        (Listen::Unix(_), socket) => {
            let socket = socket.map(|path| path.to_string_lossy()).unwrap_or_default();
            format!("nbd+unix:///{}?socket={}", encoded(name), encoded(&socket))
        }
    };
    names.map(of).collect()
}

/// Encodes what a URI does not take as it is (RFC 3986, 2.1).
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let of = |byte: u8| {
        if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(listen: &str) -> ServeFile {
        let text = format!(
            "simulate = \"sata-ssd\"\n{listen}\n[[export]]\nname = \"a b\"\nsize = \"1GiB\"\n\
             best_effort = true\n"
        );
        ServeFile::parse(&text).unwrap()
    }

    #[test]
    fn each_export_has_a_uri_that_clients_take() {
        let unix = uris(&file("socket = \"s.sock\""), Some(Path::new("/run/a b.sock")));
        assert_eq!(unix, ["nbd+unix:///a%20b?socket=/run/a%20b.sock"]);
        let tcp = uris(&file("listen = \"127.0.0.1:10809\""), None);
        assert_eq!(tcp, ["nbd://127.0.0.1:10809/a%20b"]);
    }
}
