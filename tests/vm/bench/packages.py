# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fetches the kernels: packages from the host's own mirror, pinned by version and kept in the cache."""

import os
import pathlib
import re
import shutil
import subprocess

# series: (release of the kernel, version of the packages)
PINNED = {
    "6.1": ("6.1.0-56", "6.1.192-2"),
    "6.12": ("6.12.117+deb12", "6.12.117-1~deb12u1"),
}
BUSYBOX = "busybox-static"
NEEDED = ["apt-get", "apt-cache", "dpkg-deb", "qemu-system-x86_64", "gcc", "make", "strip", "ldd", "dmsetup"]
# The PATH of users other than root often lacks the last two folders.
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


class Unavailable(Exception):
    """The error if the bench cannot run here, with the reason."""


class Kernel:
    """The files of one kernel in the cache."""

    def __init__(self, series, release, version, folder):
        self.series, self.release, self.version, self.folder = series, release, version, folder

    @property
    def image(self):
        return self.folder / f"boot/vmlinuz-{self.release}-amd64"

    @property
    def headers(self):
        return self.folder / f"usr/src/linux-headers-{self.release}-amd64"


def kernel(series, cache):
    """Returns the pinned kernel of a series, or the newest one if the mirror has dropped the pinned version."""
    release, version = PINNED[series]
    folder = cache / f"linux-{release}"
    if not (folder / "complete").exists():
        try:
            unpack_kernel(release, version, folder)
        except Unavailable:
            release, version = newest(series)
            folder = cache / f"linux-{release}"
            if not (folder / "complete").exists():
                unpack_kernel(release, version, folder)
            print(f"vm: the mirror has no longer the pinned {series}: {version} is used")
    return Kernel(series, release, version, folder)


def busybox(cache):
    """Returns the path of a static busybox."""
    folder = cache / BUSYBOX
    if not (folder / "bin/busybox").exists():
        unpack(download([BUSYBOX], folder), folder)
    return folder / "bin/busybox"


def require_tools():
    """Raises `Unavailable` if a program is missing."""
    missing = [tool for tool in NEEDED if not shutil.which(tool, path=PATH)]
    if missing:
        raise Unavailable(f"{', '.join(missing)} is not installed")


def newest(series):
    names = output("apt-cache", "pkgnames", f"linux-image-{series}.")
    pattern = re.compile(rf"linux-image-({re.escape(series)}\.\d+(?:-\d+|\+deb\d+))-amd64")
    releases = [match[1] for match in map(pattern.fullmatch, names.split()) if match]
    if not releases:
        raise Unavailable(f"the mirror has no kernel {series}")
    release = max(releases, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
    policy = output("apt-cache", "policy", f"linux-image-{release}-amd64")
    return release, re.search(r"Candidate: (\S+)", policy)[1]


def unpack_kernel(release, version, folder):
    shutil.rmtree(folder, ignore_errors=True)
    # 6.1 names the build tools after the series, and later kernels name them after the release.
    tools = f"linux-kbuild-{release}" if "+" in release else "linux-kbuild-" + ".".join(release.split(".")[:2])
    names = [f"linux-image-{release}-amd64", f"linux-headers-{release}-amd64", f"linux-headers-{release}-common"]
    # The headers also work with later build tools. A mirror drops the older tools first, because
    # they are not signed.
    unpack(download([f"{name}={version}" for name in names] + [tools], folder), folder)
    headers = folder / f"usr/src/linux-headers-{release}-amd64"
    # The Makefile includes the shared one by an absolute path.
    makefile = headers / "Makefile"
    makefile.write_text(makefile.read_text().replace(" /usr/src", f" {folder}/usr/src"))
    # If this file existed, the build would require a tool for type information.
    (headers / "vmlinux").unlink(missing_ok=True)
    (folder / "complete").touch()


def download(names, folder):
    packages = folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["apt-get", "download", "-qq", *names], cwd=packages, check=False,
                          capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"apt-get cannot download {names[0]}: {done.stderr.strip()[-200:]}")
    return packages


def unpack(packages, folder):
    for package in sorted(packages.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    shutil.rmtree(packages)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
