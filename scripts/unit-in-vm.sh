#!/bin/sh
# Runs the systemd unit and Linux's own NBD client in a virtual machine that QEMU emulates. Its kernel is
# Debian's; its root is this machine's, read-only, with changes kept in memory; its first process is systemd.
#
# usage: scripts/unit-in-vm.sh PROGRAM [FSX [OPERATIONS]]
#
# PROGRAM is the tidegate binary. FSX is the program of crates.io, which exercises a file on ext4 on
# /dev/nbd0 (OPERATIONS: 10000). Takes 5 to 10 minutes, needs Debian and its packages
# qemu-system-x86, nbd-client, libnbd-bin and e2fsck's, and 400 MB in a temporary folder.
set -eu

program=$(realpath "$1")
fsx=${2:+$(realpath "$2")}
operations=${3:-10000}
units=$(cd "$(dirname "$0")/../packaging/systemd" && pwd)

for tool in apt-get dpkg-deb xz qemu-system-x86_64 nbd-client nbdinfo mkfs.ext4; do
    if ! PATH="$PATH:/usr/sbin:/sbin" command -v $tool >/dev/null 2>&1; then
        echo "unit-in-vm: skipped: $tool is not installed"
        exit 0
    fi
done
work=$(mktemp -d /var/tmp/unit-in-vm.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

cp "$program" "$work/tidegate"
[ -z "$fsx" ] || cp "$fsx" "$work/fsx"
cp -r "$units" "$work/units"
cd "$work"
kernel=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p')
apt-get download -qq "$kernel" busybox-static 2>/dev/null
for package in *.deb; do
    dpkg-deb -x "$package" unpacked
done
modules=$(echo unpacked/lib/modules/*/kernel)
mkdir modules
# In the order of their dependencies; a kernel lacks those that are built in.
bus="virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci"
first="$bus netfs fscache 9pnet 9pnet_virtio 9p overlay"
later="virtio_blk crc16 crc32c_generic mbcache jbd2 ext4 nbd"
for name in $first $later; do
    file=$(find "$modules" -name "$name.ko*")
    case $file in
    *.xz) xz -dc "$file" >"modules/$name.ko" ;;
    *.ko) cp "$file" "modules/$name.ko" ;;
    esac
done

mkdir -p root/bin root/m root/proc root/sys root/dev root/lower root/upper root/new
cp unpacked/bin/busybox root/bin/
for name in $first; do
    [ ! -f "modules/$name.ko" ] || cp "modules/$name.ko" root/m/
done
cat >root/init <<INIT
#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
for m in $first; do [ ! -f /m/\$m.ko ] || insmod /m/\$m.ko; done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=1048576,cache=loose host /lower
mount -t tmpfs none /upper; mkdir /upper/u /upper/w
mount -t overlay -o lowerdir=/lower,upperdir=/upper/u,workdir=/upper/w none /new
cp /job.service /job.target /new/etc/systemd/system/
# It would empty the copy of /tmp, which can take minutes.
ln -s /dev/null /new/etc/systemd/system/systemd-tmpfiles-setup.service
: >/new/etc/fstab
exec switch_root /new /lib/systemd/systemd --unit=job.target
INIT
cat >root/job.service <<UNIT
[Unit]
After=basic.target
[Service]
Type=oneshot
ExecStart=/bin/sh $work/job
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
ExecStopPost=/bin/systemctl poweroff -f -f
UNIT
printf '[Unit]\nRequires=basic.target job.service\nAfter=basic.target job.service\n' >root/job.target
chmod +x root/init
(cd root && find . | ../unpacked/bin/busybox cpio -o -H newc 2>/dev/null) | gzip -1 >initrd

cat >job <<JOB
title() { echo; echo "# \$*"; }
for m in $later; do [ ! -f $work/modules/\$m.ko ] || $work/unpacked/bin/busybox insmod $work/modules/\$m.ko; done
sleep 2
install -m 644 $work/units/tidegate.sysusers /usr/lib/sysusers.d/tidegate.conf
install -m 644 $work/units/tidegate@.service $work/units/tidegate@.socket /usr/lib/systemd/system/
install -m 755 $work/tidegate /usr/bin/tidegate
systemd-sysusers
chgrp disk /dev/vda; chmod 660 /dev/vda
mkdir -p /etc/tidegate /etc/systemd/system/tidegate@demo.service.d
file=/etc/tidegate/demo.serve.toml; sockets=/run/tidegate/serve/demo
printf 'backing = "/dev/vda"\nsocket = "%s.sock"\ncontrol = "%s.ctl"\n' \$sockets \$sockets >\$file
printf '[[export]]\nname = "data"\nsize = "256MiB"\nbest_effort = true\n' >>\$file
chgrp tidegate \$file; chmod 640 \$file
tidegate serve \$file --unit >/etc/systemd/system/tidegate@demo.service.d/limits.conf
printf '[Service]\nWatchdogSec=10\n' >/etc/systemd/system/tidegate@demo.service.d/watchdog.conf
systemctl daemon-reload
title "start"; systemctl start tidegate@demo; echo "exit code \$?"
systemctl show tidegate@demo -p ActiveState,StatusText,MemoryMax,LimitNOFILE
systemd-analyze security tidegate@demo | tail -n 1
tidegate ctl \$sockets.ctl status
title "reload"
printf '[[export]]\nname = "more"\nsize = "64MiB"\nbest_effort = true\n' >>\$file
systemctl reload tidegate@demo; echo "exit code \$?"; sleep 3
nbdinfo --list "nbd+unix:///?socket=\$sockets.sock" | grep ^export=
title "ext4 on Linux's client"
nbd-client -unix \$sockets.sock -N data -b 4096 /dev/nbd0
mkfs.ext4 -q /dev/nbd0 && mkdir -p /mnt/nbd && mount /dev/nbd0 /mnt/nbd && cp /usr/bin/tidegate /mnt/nbd
[ ! -f $work/fsx ] || $work/fsx -N $operations -S 1 -P /run /mnt/nbd/file; echo "exit code \$?"
cmp /usr/bin/tidegate /mnt/nbd/tidegate; umount /mnt/nbd; e2fsck -fn /dev/nbd0; echo "exit code \$?"
nbd-client -d /dev/nbd0
title "watchdog"
kill -STOP \$(systemctl show tidegate@demo -p MainPID --value); sleep 40
systemctl show tidegate@demo -p ActiveState,NRestarts
title "socket unit"
systemctl stop tidegate@demo; systemctl start tidegate@demo.socket; systemctl is-active tidegate@demo
nbdinfo --size "nbd+unix:///data?socket=\$sockets.sock"; systemctl is-active tidegate@demo
systemctl stop tidegate@demo.socket tidegate@demo; systemctl show tidegate@demo -p Result,ExecMainStatus
title "journal"; journalctl -u tidegate@demo --no-pager -o cat
JOB

head -c 384M /dev/zero >disk
timeout 1800 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 2048 -nographic -nodefaults \
    -no-reboot -serial stdio -kernel unpacked/boot/vmlinuz-* -initrd initrd \
    -append "console=ttyS0 quiet panic=-1 systemd.show_status=false" \
    -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
    -drive "file=$work/disk,format=raw,if=virtio,cache=unsafe"
