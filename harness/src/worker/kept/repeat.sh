#!/bin/sh
@CASE@
# Its steps:
@STEPS@
#
# As root:
#   sh repeat.sh [COMMAND...]          make the same file system anew, and work in it
#   sh repeat.sh --kept [COMMAND...]   look into the one that was kept, read-only;
#                                      into a copy where its log has to be replayed
# COMMAND runs in its top folder, in a mount namespace of its own; without one it
# is your shell. At the end it is unmounted, checked and detached.
set -eu
# A mount that others see is one that others can keep busy.
if [ -z "${FSDUEL_REPEAT:-}" ]; then
    FSDUEL_REPEAT=1 exec unshare --mount --propagation private sh "$0" "$@"
fi
cd "$(dirname "$(readlink -f "$0")")"
exec 8<repeat.sh
flock --nonblock 8 || { echo "repeat.sh: another one works in this folder" >&2; exit 1; }
options=@OPTIONS@
read_only=
image=again.img
if [ "${1:-}" = --kept ]; then
    shift
    options=${options:+$options,}ro
    read_only=--read-only
    image=image.img
fi

# A device goes a moment after its last user; until then btrfs may take it for one that has the same
# UUID.
detach() {
    exec 9<&-
    for _ in $(seq 50); do
        if [ -z "$(losetup --associated "$image")" ]; then break; fi
        sleep 0.1
    done
}
finish() {
    if mountpoint -q mnt; then umount mnt; fi
    detach
    if [ -d mnt ]; then rmdir mnt; fi
    rm -f again.img
}
trap finish EXIT
trap 'exit 130' HUP INT TERM
attach() {
    device=$(losetup --find --show $read_only --sector-size @SECTOR@ --direct-io=@DIRECT_IO@ "$image")
    # Held open and detached at once, the device goes with its last user, even if this is killed.
    exec 9<"$device"
    losetup --detach "$device"
}
mount_it() { mount -t @TYPE@ -o "$options" "$device" mnt; }

if [ -z "$read_only" ]; then
    # What one that was killed has left would not be empty.
    rm -f "$image"
    truncate --size=@BYTES@ "$image"
fi
attach
if [ -z "$read_only" ]; then
    # Of its own: what was kept may be attached still, and one UUID cannot be there twice.
    uuid=$(cat /proc/sys/kernel/random/uuid)
    @MKFS@
fi
mkdir -p mnt
if [ -z "$read_only" ]; then
    mount_it
elif ! mount_it; then
    echo "It cannot be mounted as it is. Trying a copy, where the log can be replayed." >&2
    detach
    cp --sparse=always "$image" again.img
    image=again.img
    read_only=
    attach
    mount_it
fi
if [ $# = 0 ]; then set -- "${SHELL:-sh}"; fi
status=0
(cd mnt && "$@" 9<&-) || status=$?
umount mnt
@FSCK@ || { [ $status != 0 ] || status=5; }
exit $status
