// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files that create a mapping again at each boot.

use std::fmt::Write as _;

use tidegate_tune::{Disk, NewFile, Setting};

use crate::mapping::Mapping;

/// Returns the files: the udev rule with the disk's settings, the table, the unit that creates the
/// mapping before file systems are mounted, the drop-in that starts the unit, and a drop-in for
/// each service with a contract. `path` is a path of the disk that does not change at a restart.
/// `None` if [no rule can name the disk alone](NewFile::can_name).
pub fn installed(
    disk: &Disk,
    settings: &[Setting],
    mapping: &Mapping,
    path: &str,
    units: &[String],
) -> Option<Vec<NewFile>> {
    let origin = format!("Written by `tidegate attach`; `tidegate detach {path}` removes it.");
    let name = &mapping.name;
    let table = format!("etc/tidegate/{name}.table");
    let service = format!("tidegate-attach-{name}.service");
    let mut files = vec![
        NewFile::rule_of(disk, settings, &origin)?,
        NewFile {
            path: format!("etc/systemd/system/{service}"),
            text: unit(&origin, mapping, path, &table),
        },
        NewFile {
            path: format!("etc/systemd/system/local-fs.target.d/50-{name}.conf"),
            text: format!("# {origin}\n[Unit]\nWants={service}\n"),
        },
        NewFile { path: table, text: format!("{}\n", mapping.table) },
    ];
    files.extend(units.iter().map(|unit| NewFile {
        path: format!("etc/systemd/system/{unit}.d/50-{name}.conf"),
        text: format!("# {origin}\n[Service]\nIOAccounting=yes\n"),
    }));
    Some(files)
}

fn unit(origin: &str, mapping: &Mapping, path: &str, table: &str) -> String {
    let Mapping { name, uuid, .. } = mapping;
    let device = escaped(path);
    format!(
        "# {origin}\n\
         [Unit]\n\
         Description=Response-time guarantees for {path} as /dev/mapper/{name}\n\
         DefaultDependencies=no\n\
         Requires={device}.device\n\
         After={device}.device systemd-modules-load.service\n\
         Wants=local-fs-pre.target\n\
         Before=local-fs-pre.target shutdown.target\n\
         Conflicts=shutdown.target\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         ExecStartPre=/bin/sh -c \"! lsblk -nro TYPE {path} | grep -qvxE 'disk|part'\"\n\
         ExecStart=/usr/sbin/dmsetup create {name} --uuid {uuid} /{table}\n\
         ExecStop=/usr/sbin/dmsetup remove --retry {name}\n"
    )
}

/// Returns a path as systemd escapes it in the name of a unit.
fn escaped(path: &str) -> String {
    let mut text = String::new();
    for byte in path.trim_matches('/').bytes() {
        match byte {
            b'/' => text.push('-'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b':' | b'_' | b'.' => {
                text.push(char::from(byte));
            }
            _ => {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
    }
    text
}
