#!/bin/sh
# First process of the machine. KEELSON_SHARED is a folder of the machine around it, in which `script` is executed.
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
mount -t hostfs none /mnt -o "$KEELSON_SHARED"
sh -eu /mnt/script > /mnt/output 2>&1
echo $? > /mnt/status
echo o > /proc/sysrq-trigger
# The machine is off before this ends.
sleep 60
