#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kills a server below a SQLite database, again and again, and looks for lost transactions.

  database --ext4--> loop device --file--> nbdfuse --NBD--> tidegate serve --> a file

A writer commits durable rows and logs each number after its commit, outside the file
system. After a random time the server gets SIGKILL. Then a new server starts, the file system is
mounted again, and every logged number must be in the database, which must be sound. Needs root.
"""

import argparse
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SERVE = """backing = "disk.img"
socket = "s.sock"
[[export]]
name = "db"
size = "{mib}MiB"
best_effort = true
"""

WRITER = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode=" + sys.argv[2])
# In rollback mode a commit is durable when its journal is gone, so the folder must be synced too.
db.execute("PRAGMA synchronous=EXTRA")
db.execute("CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, filler BLOB)")
log = os.open(sys.argv[3], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
number = db.execute("SELECT coalesce(max(number), 0) FROM rows").fetchone()[0]
while True:
    number += 1
    db.execute("INSERT INTO rows VALUES (?, ?)", (number, os.urandom(number % 3000)))
    os.write(log, f"{number}\\n".encode())
"""


def run(*command, check=True):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"crash_sqlite: {' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def wait_until(what, is_so):
    for _ in range(6_000):
        if is_so():
            return
        time.sleep(0.01)
    sys.exit(f"crash_sqlite: no {what} within a minute")


class Layers:
    """From the server to the mounted file system."""

    def __init__(self, program, folder, mib):
        self.folder, self.device = folder, None
        log = open(folder / "server.log", "a")
        self.server = subprocess.Popen([program, "serve", "s.toml"], cwd=folder, stdout=log, stderr=log)
        wait_until("socket", lambda: run("nbdinfo", "--size", self.uri(), check=False) == str(mib << 20))
        self.file = folder / "export.img"
        self.file.touch()
        self.fuse = subprocess.Popen(["nbdfuse", self.file, self.uri()], stderr=subprocess.DEVNULL)
        wait_until("export", lambda: self.file.stat().st_size == mib << 20)
        self.device = run("losetup", "--find", "--show", self.file)

    def uri(self):
        return f"nbd+unix:///db?socket={self.folder}/s.sock"

    def mount(self, kind):
        (self.folder / "mnt").mkdir(exist_ok=True)
        run("mount", "-t", kind, self.device, self.folder / "mnt")

    def close(self, ending):
        self.server.send_signal(ending)
        self.server.wait()
        run("umount", "-l", self.folder / "mnt", check=False)
        run("losetup", "--detach", self.device, check=False)
        run("fusermount3", "-u", "-z", self.file, check=False)
        self.fuse.kill()
        self.fuse.wait()
        # A lazily unmounted file system is busy until the last writes have failed.
        wait_until("free device", lambda: self.device not in run("losetup", "--list", "-n", "-O", "NAME"))


def one_round(program, folder, options, mode, delay):
    layers = Layers(program, folder, options.mib)
    layers.mount(options.file_system)
    log = folder / f"{mode}.log"
    database = folder / "mnt" / f"{mode}.db"
    before = count(log)
    command = [sys.executable, "-c", WRITER, database, mode, log]
    writer = subprocess.Popen([str(it) for it in command], stderr=subprocess.DEVNULL)
    wait_until("commit", lambda: count(log) > before)
    time.sleep(delay)
    os.kill(layers.server.pid, signal.SIGKILL)
    try:
        writer.wait(timeout=20)
    except subprocess.TimeoutExpired:
        writer.kill()
        writer.wait()
    layers.close(signal.SIGKILL)
    acknowledged = {int(line) for line in log.read_text().split()}
    layers = Layers(program, folder, options.mib)
    layers.mount(options.file_system)
    db = sqlite3.connect(database)
    sound = db.execute("PRAGMA integrity_check").fetchone()[0]
    rows = {number for (number,) in db.execute("SELECT number FROM rows")}
    db.close()
    layers.close(signal.SIGTERM)
    missing = acknowledged - rows
    if sound != "ok" or missing:
        sys.exit(f"crash_sqlite: {mode}: {sound}; {len(missing)} of {len(acknowledged)} are missing")
    return len(acknowledged) - before


def count(log):
    return len(log.read_text().split()) if log.exists() else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path, help="the tidegate binary")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--file-system", choices=["ext4", "xfs"], default="ext4")
    parser.add_argument("--mib", type=int, default=384)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if os.geteuid():
        sys.exit("crash_sqlite: mounting needs root")
    random.seed(options.seed)
    program = options.program.resolve()
    with tempfile.TemporaryDirectory(dir=program.parent) as name:
        folder = pathlib.Path(name)
        (folder / "s.toml").write_text(SERVE.format(mib=options.mib))
        run("dd", "if=/dev/zero", f"of={folder / 'disk.img'}", "bs=1M", f"count={options.mib}", "conv=fsync")
        layers = Layers(program, folder, options.mib)
        run(f"mkfs.{options.file_system}", "-q", layers.device)
        layers.close(signal.SIGTERM)
        for mode in ["wal", "delete"]:
            commits = [
                one_round(program, folder, options, mode, random.uniform(0.2, 1.5))
                for _ in range(options.rounds)
            ]
            print(f"{mode}: {options.rounds} kills, {sum(commits)} commits, none missing", flush=True)


if __name__ == "__main__":
    main()
