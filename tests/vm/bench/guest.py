# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds the parts of a guest, and boots one in virtual time: two boots of the same job print the same bytes."""

import lzma
import pathlib
import re
import shutil
import struct
import subprocess

import packages
import runs
import trace

HERE = pathlib.Path(__file__).resolve().parent.parent
# The memory that the guest's kernel does not use, and into which `dump` writes.
DUMP_AT, DUMP_SIZE, MEMORY_MIB = 0x1000_0000, 0x1000_0000, 768
APPLETS = ["sh", "mount", "insmod", "rmmod", "cat", "echo", "poweroff", "sleep", "cmp", "dd", "dmesg", "grep", "seq",
           "mkdir", "blkdiscard", "umount", "sync", "rm", "rmdir",
           "ionice"]
LIMIT_S = 1200
# The modules of the SCSI layer in the order of their dependencies; a kernel lacks those that are built in.
SCSI_MODULES = ["crct10dif_common", "crct10dif_generic", "crc64", "crc64-rocksoft", "crc-t10dif", "t10-pi",
                "scsi_common", "scsi_mod", "sd_mod"]
# The modules for file systems. Each names the modules on which it depends, but not those that the
# kernel requests during a mount.
FILE_MODULES = ["crc32c_generic", "xxhash_generic", "blake2b_generic", "ext4", "xfs", "btrfs"]
FILE_PROGRAMS = ["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"]
SERVICE_PROGRAMS = ["nbd-client", "losetup"]
TARGET_MODULES = ["dm-mod", "bfq", "configfs", "null_blk"]


class Machine:
    """A guest with one of the kernels."""

    def __init__(self, series, work, program):
        packages.require_tools()
        self.kernel = packages.kernel(series, work)
        self.work = work / f"guest-{series}"
        self.work.mkdir(exist_ok=True)
        self.base = build(self.kernel, packages.busybox(work), self.work)
        self.scsi, self.scsi_prologue = with_scsi(self.kernel, program, self.work)
        self.target = with_target(self.kernel, self.work)
        self.files, self.files_prologue = with_file_systems(self.kernel)
        self.service = with_clients(self.kernel)

    def results(self, group, settings):
        """Boots a guest for these runs, and returns the results of each."""
        results = trace.runs(self.text(group, settings))
        for run, found in zip(group, results, strict=True):
            trace.measure(found, run.depth, runs.TASK_KIB * 2)
        return results

    def text(self, group, settings):
        """Returns the output of a guest for these runs."""
        is_scsi = group[0].is_scsi
        prologue = runs.PROLOGUE + (self.scsi_prologue if is_scsi else "")
        return self.boot(prologue + "".join(map(runs.job, group, settings)), self.scsi if is_scsi else b"")

    def boot(self, job, extra=b""):
        """Returns the output of a guest for a job. A guest that ends early is booted once more."""
        base = self.base + extra
        try:
            text = boot(self.kernel, base, job, self.work)
        except Unfinished:
            text = boot(self.kernel, base, job, self.work)
        (self.work / "output").write_text(text)
        return text


class Unfinished(Exception):
    """The error if a guest ended without printing its last line."""


def build(kernel, busybox, work):
    """Compiles the disk and the programs of the guest, and returns its base: an archive."""
    disk = work / f"disk-{kernel.release}"
    shutil.rmtree(disk, ignore_errors=True)
    shutil.copytree(HERE / "disk", disk)
    run("make", "-s", "-C", kernel.headers, f"M={disk}", "modules")
    files = {"init": HERE / "guest/init", "benchdisk.ko": disk / "benchdisk.ko", "bin/busybox": busybox}
    for program in ("load", "writer", "dump"):
        files[f"bin/{program}"] = work / program
        run("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-pthread",
            HERE / f"guest/{program}.c", "-o", work / program)
    archive = Archive()
    for folder in ("bin", "proc", "sys", "dev", "tmp"):
        archive.add(folder, 0o040755)
    for name, path in files.items():
        archive.add(name, 0o100755, path.read_bytes())
    for applet in APPLETS:
        archive.add(f"bin/{applet}", 0o120777, b"busybox")
    return archive.end()


def with_scsi(kernel, program, work):
    """Returns an archive with the SCSI disk, the SCSI layer and `tidegate`, and the script that loads the layer."""
    archive, names = Archive(), []
    for folder in ("var", "var/lib", "etc"):
        archive.add(folder, 0o040755)
    for name in SCSI_MODULES:
        if add_module(archive, kernel, name):
            names.append(name)
    archive.add("benchscsi.ko", 0o100644, (work / f"disk-{kernel.release}/benchscsi.ko").read_bytes())
    stripped = work / "tidegate"
    run("strip", "-o", stripped, program)
    add_program(archive, stripped)
    return archive.end(), "".join(f"insmod /{name}.ko\n" for name in names)


def with_target(kernel, work):
    """Compiles the kernel target, and returns an archive with the target, the device mapper and bfq."""
    archive, target = Archive(), work / f"target-{kernel.release}"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(HERE.parent.parent / "kernel", target)
    run("make", "-s", "-C", kernel.headers, f"M={target}", "W=1", "KCFLAGS=-Werror", "modules")
    for name in TARGET_MODULES:
        if not add_module(archive, kernel, name):
            raise RuntimeError(f"{kernel.release} has no module {name}")
    archive.add("dm-tidegate.ko", 0o100644, (target / "dm-tidegate.ko").read_bytes())
    add_program(archive, pathlib.Path(shutil.which("dmsetup", path=packages.PATH)))
    return archive.end()


def with_file_systems(kernel):
    """Returns an archive with file systems and the programs that make them, and the script that loads them."""
    archive, names = Archive(), []
    for name in FILE_MODULES:
        add_with_needs(archive, kernel, name, names)
    for program in FILE_PROGRAMS:
        if path := shutil.which(program, path=packages.PATH):
            add_program(archive, pathlib.Path(path))
    return archive.end(), "".join(f"insmod /{name}.ko\n" for name in names)


def with_clients(kernel):
    """Returns an archive with the kernel's NBD client, its connecting program, and the modules of `drive attach`."""
    archive = Archive()
    for name in ("nbd", "fuse", "loop"):
        add_module(archive, kernel, name)
    for program in SERVICE_PROGRAMS:
        if path := shutil.which(program, path=packages.PATH):
            add_program(archive, pathlib.Path(path))
    return archive.end()


def add_with_needs(archive, kernel, name, names):
    """Adds a module after the modules on which it depends, each once."""
    if name in names or not (content := module(kernel, name)):
        return
    for need in re.search(rb"\0depends=([^\0]*)", content)[1].decode().split(","):
        if need:
            add_with_needs(archive, kernel, need, names)
    archive.add(f"{name}.ko", 0o100644, content)
    names.append(name)


def add_module(archive, kernel, name):
    """Adds a module of the kernel's package; false if the kernel has it built in."""
    content = module(kernel, name)
    if content:
        archive.add(f"{name}.ko", 0o100644, content)
    return bool(content)


def module(kernel, name):
    """Returns a module of the kernel's package; None if the kernel has it built in."""
    for path in (kernel.folder / "lib/modules").rglob(f"{name}.ko*"):
        content = path.read_bytes()
        return lzma.decompress(content) if path.suffix == ".xz" else content
    return None


def add_program(archive, program):
    """Adds a program of the host with its libraries."""
    for folder in ("lib", "lib64", "lib/x86_64-linux-gnu"):
        archive.add(folder, 0o040755)
    archive.add(f"bin/{program.name}", 0o100755, program.read_bytes())
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.split()
    for library in filter(lambda word: word.startswith("/"), libraries):
        archive.add(library[1:], 0o100755, pathlib.Path(library).read_bytes())


def boot(kernel, base, job, work):
    """Boots a guest that runs the shell script `job`, and returns its output."""
    archive = Archive()
    archive.add("job", 0o100644, job.encode())
    initrd, memory = work / "initrd", work / "memory"
    initrd.write_bytes(base + archive.end())
    memory.unlink(missing_ok=True)
    command = [
        "qemu-system-x86_64", "-machine", "q35,memory-backend=ram", "-m", str(MEMORY_MIB),
        "-object", f"memory-backend-file,id=ram,size={MEMORY_MIB}M,mem-path={memory},share=on",
        # In virtual time, an instruction takes 2 ns, and an idle processor jumps to the next timer.
        "-accel", "tcg,thread=single", "-smp", "1", "-icount", "shift=1,sleep=off",
        "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "1",
        "-display", "none", "-nodefaults", "-no-reboot", "-serial", "stdio",
        "-kernel", str(kernel.image), "-initrd", str(initrd), "-append",
        "console=ttyS0 quiet panic=-1 nokaslr tsc=reliable lpj=4000000 random.trust_cpu=on mitigations=off "
        "cryptomgr.notests "
        f"memmap={DUMP_SIZE:#x}${DUMP_AT:#x} DUMP_AT={DUMP_AT:#x} DUMP_SIZE={DUMP_SIZE:#x}",
    ]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=False)
        console = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired as expired:
        console = (expired.stdout or b"").decode(errors="replace") + f"stopped after {LIMIT_S} s"
    return read_dump(memory, console)


def read_dump(memory, console):
    if not memory.exists():
        raise RuntimeError(f"QEMU did not start:\n{console[-2000:]}")
    with memory.open("rb") as file:
        file.seek(DUMP_AT)
        length = struct.unpack("<Q", file.read(8))[0]
        text = file.read(min(length, DUMP_SIZE)).decode(errors="replace")
    memory.unlink()
    if not text.endswith("end\n"):
        raise Unfinished(f"the guest did not finish:\n{console[-2000:]}\n{text[-2000:]}")
    return text


class Archive:
    """A cpio archive in the format `newc` of the kernel's initramfs."""

    def __init__(self):
        self.bytes = bytearray()

    def add(self, name, mode, content=b""):
        name = name.encode() + b"\0"
        fields = [0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0]
        self.bytes += b"070701" + b"".join(b"%08X" % field for field in fields) + name
        self.pad()
        self.bytes += content
        self.pad()

    def pad(self):
        self.bytes += bytes(-len(self.bytes) % 4)

    def end(self):
        self.add("TRAILER!!!", 0)
        return bytes(self.bytes)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr[-800:]}")
