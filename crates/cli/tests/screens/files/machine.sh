# Lays out the folder `machine`: the files of sysfs for a SATA disk `sda` that matter to
# `tidegate tune`, an encrypted volume on its partition if $1 is `crypt`, and the threads of two services if $1 is
# `running`.
set -e
device=machine/sys/devices/ata1/host2/target2:0:0/2:0:0:0
disk=$device/block/sda
mkdir -p $disk/queue/iosched $disk/mq/0 $disk/sda1 machine/sys/class/block machine/sys/class/scsi_host/host2
echo 'none [mq-deadline] bfq' > $disk/queue/scheduler
echo 64 > $disk/queue/nr_requests
echo 0 > $disk/queue/nomerges
echo 128 > $disk/queue/max_sectors_kb
echo 32767 > $disk/queue/max_hw_sectors_kb
echo 'write back' > $disk/queue/write_cache
echo none > $disk/queue/zoned
echo 10000 > $disk/queue/iosched/prio_aging_expire
echo 48 > $disk/queue/iosched/async_depth
echo 1 > $disk/sda1/partition
echo 32 > $device/queue_depth
echo ATA > $device/vendor
echo TESTDISK > $device/model
echo 't10.ATA TESTDISK S-1' > $device/wwid
echo 32 > machine/sys/class/scsi_host/host2/can_queue
ln -s ../../../2:0:0:0 $disk/device
ln -s ../../devices/ata1/host2/target2:0:0/2:0:0:0/block/sda machine/sys/class/block/sda
if [ "$1" = crypt ]; then
    mkdir -p $disk/sda1/holders/dm-0 machine/sys/class/block/dm-0/dm machine/sys/class/block/dm-0/slaves/sda1
    echo CRYPT-LUKS2-1 > machine/sys/class/block/dm-0/dm/uuid
fi
if [ "$1" = running ]; then
    groups=machine/sys/fs/cgroup/system.slice
    mkdir -p $groups/recorder.service $groups/media-server.service
    printf '11\n12\n' > $groups/recorder.service/cgroup.threads
    echo 21 > $groups/media-server.service/cgroup.threads
    for thread in 11 12 21; do
        mkdir -p machine/proc/$thread
        echo "$thread (a) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 77 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" \
            > machine/proc/$thread/stat
        echo 0 > machine/proc/$thread/io_priority
    done
fi
