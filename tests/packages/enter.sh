#!/bin/sh
# enter.sh LOWER BASE SHARED - in new mount and pid namespaces: makes a system of its own over LOWER and waits.
#
# Everything that is written is in memory, at /mnt of the system, and gone with these namespaces. The root is changed with
# pivot_root: whoever is in a chroot may not make user namespaces, and no jail would work. SHARED is at /srv.
set -eu
lower=$1 base=$2 shared=$3
mount -t tmpfs -o mode=755 packages "$base"
mkdir "$base/upper" "$base/work" "$base/root"
mount -t overlay -o "lowerdir=$lower,upperdir=$base/upper,workdir=$base/work" packages "$base/root"
cd "$base/root"
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=1777 tmp tmp
mount --bind "$shared" srv
mount --bind "$base/upper" mnt
mkdir run/old
pivot_root . run/old
umount -l run/old
rmdir run/old
echo ready
exec sleep infinity
