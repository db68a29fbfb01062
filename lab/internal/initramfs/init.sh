#!/bin/sh
# The first process of a guest. It makes the system that tests need, does what /lab/plan says, and switches the
# machine off. What is said on the second serial port goes to the tests' reader: lines that begin with $nonce are from
# here, all others from a test. No udev runs here: no module is loaded but those that somebody asks for.
export PATH=/usr/sbin:/usr/bin HOME=/root TERM=dumb LC_ALL=C
out=/dev/ttyS1

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/shm /dev/pts /dev/hugepages
for d in /dev/shm /tmp /run; do mount -t tmpfs tmpfs $d; done
mount -t devpts devpts /dev/pts
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t hugetlbfs hugetlbfs /dev/hugepages
ln -s /proc/self/fd /dev/fd 2>/dev/null
echo /sbin/modprobe > /proc/sys/kernel/modprobe
ulimit -l unlimited
ulimit -c 0
hostname lab
ip link set lo up
modprobe -q virtio_pci
modprobe -q virtio_net
modprobe -q tun # for /dev/net/tun
stty -F $out raw -echo

mark() { echo "$nonce $*" > $out; }

# off ends the guest, and with it QEMU.
off() {
  sync
  poweroff -f
}

# prepare does something without which there is nothing to test. What it says is on the console.
prepare() {
  (set -e; "$@")
  rc=$?
  [ $rc = 0 ] && return
  echo "lab: $* failed with $rc"
  mark unprepared "$*"
  off
}

# run SECONDS DIRECTORY PROGRAM ARGS runs a test.
run() {
  limit=$1 dir=$2
  shift 2
  mark begin
  (cd "$dir" && exec timeout -k 10 "$limit" "$@") </dev/null >$out 2>&1
  mark end $?
}

. /lab/plan
mark done
off
