# Lays out the folder `machine` with a disk and the kernel target's module, and the program `dmsetup`, which
# keeps the tables of mappings in files.
set -e
[ -d machine ] || sh machine.sh
disk=machine/sys/devices/ata1/host2/target2:0:0/2:0:0:0/block/sda
echo 1953525168 > $disk/size
echo 8:0 > $disk/dev
echo 75000 > $disk/queue/wbt_lat_usec
mkdir -p machine/sys/module/dm_tidegate machine/proc/sys/kernel machine/dev/disk/by-id machine/dev/mapper
mkdir -p machine/sys/fs/cgroup/system.slice/recorder.service
touch machine/sys/fs/cgroup/cgroup.controllers machine/sys/fs/cgroup/system.slice/recorder.service/io.stat
echo 6.12.0-1-amd64 > machine/proc/sys/kernel/osrelease
ln -sf ../../sda machine/dev/disk/by-id/ata-TESTDISK
cat > dmsetup <<'END'
#!/bin/sh
verb=$1 name=$2
# Only `create` has its name in the middle.
[ "$verb" = create ] || for name; do :; done
place=machine/dev/mapper/$name
fail() {
    echo "device-mapper: $verb ioctl failed: $1" >&2
    exit 1
}
missing() {
    [ -e "$place" ] && return
    echo 'Device does not exist.' >&2
    exit 1
}
case $verb in
version) echo 'Library version: 1' ;;
create)
    [ -e machine/refuses ] && fail 'Invalid argument'
    cat > "$place"
    echo "$4" > "$place.uuid" ;;
load)
    [ -e machine/refuses ] && fail 'Invalid argument'
    cat > "$place.new" ;;
resume)
    # The kernel takes the new table even if it cannot be resumed.
    [ -e "$place.new" ] && mv "$place.new" "$place"
    if [ -e machine/stuck ]; then
        rm machine/stuck
        fail 'Input/output error'
    fi ;;
clear) rm -f "$place.new" ;;
remove)
    [ -e machine/busy ] && fail 'Device or resource busy'
    rm "$place" "$place.uuid" ;;
info)
    missing
    cat "$place.uuid" ;;
table)
    missing
    sed 's#/dev/[^ ]*#8:0#' "$place" ;;
status)
    missing
    echo "0 1953525168 tidegate 2 4 911 17 $(cat machine/worker 2> /dev/null || echo 382) 61000 rt 188 24653 0 0 188 be 5099 845941 0 5099" ;;
esac
END
chmod +x dmsetup
