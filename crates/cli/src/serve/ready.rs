// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reports that the service is ready: one line with the URI of each export.

use std::path::Path;

use tidegate_engine::serve::Prepared;
use tidegate_model::ServeFile;
use tidegate_model::serve_file::Listen;

use super::listen;
use crate::failure::Failure;
use crate::show;

/// Prints the URI of each export of a listening server.
pub(super) fn show(prepared: &Prepared, file: &Path) -> Result<(), Failure> {
    let socket = listen::socket_path(prepared, file)?;
    show::page(|page| {
        for (index, uri) in uris(prepared.file(), &socket).iter().enumerate() {
            page.command(if index == 0 { "Ready" } else { "" }, uri);
        }
    });
    Ok(())
}

/// Returns the URI of each export, in the order of the file.
fn uris(file: &ServeFile, socket: &Path) -> Vec<String> {
    let names = file.export_names();
    let of = |name: &str| match &file.listen {
        Listen::Tcp { address, tls } => {
            let scheme = if tls.is_some() { "nbds" } else { "nbd" };
            format!("{scheme}://{}/{}", address.get_ref(), encoded(name))
        }
        Listen::Unix(_) => {
            format!("nbd+unix:///{}?socket={}", encoded(name), encoded(&socket.to_string_lossy()))
        }
    };
    names.map(of).collect()
}

/// Percent-encodes the characters that a URI cannot contain (RFC 3986, 2.1).
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
        let unix = uris(&file("socket = \"s.sock\""), Path::new("/run/a b.sock"));
        assert_eq!(unix, ["nbd+unix:///a%20b?socket=/run/a%20b.sock"]);
        let tcp = uris(&file("listen = \"127.0.0.1:10809\""), Path::new(""));
        assert_eq!(tcp, ["nbd://127.0.0.1:10809/a%20b"]);
    }
}
