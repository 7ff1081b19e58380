#!/usr/bin/env bash
# The static binary in privileged containers and in one without privileges: exit codes, JSON, and
# nothing left. Needs root, podman, runc and debootstrap. The root file system is made once, below target/.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/shared/rootfs.sh
need podman=podman runc=runc debootstrap=debootstrap

program=${FSDUEL_PROGRAM:-$PWD/target/dist/fsduel}
[ -x "$program" ] || { cargo xtask dist; }
root=${FSDUEL_ROOTFS:-$PWD/target/container/rootfs}
work=$(mktemp -d /var/tmp/fsduel-container.XXXXXX)
# Only what carries this mark is ours.
name=fsduel-test-$$
cleanup() {
  podman rm --force --ignore "$name" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

rootfs "$root" btrfs-progs,e2fsprogs,xfsprogs
mkdir -p "$root/results"
cp "$program" "$root/usr/local/bin/fsduel"

# One container; its standard output is in $work/out, its standard error in $work/err.
contain() {
  local code=0
  podman run --rm --name "$name" --runtime runc --cgroup-manager cgroupfs --network=host \
    --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --volume "$work:/results" "$@" \
    >"$work/out" 2>"$work/err" || code=$?
  echo "$code"
}
expect() { # WHAT CODE WANTED
  [ "$2" = "$3" ] && { say "ok: $1"; return; }
  tail -n 30 "$work/err" >&2
  fail "$1: exit $2, not $3"
}
# Devices whose image lay in our folder, and mounts of it.
nothing_left() {
  for _ in $(seq 60); do
    left=$(cat /sys/block/loop*/loop/backing_file 2>/dev/null | grep -F -e "$work" -e ' /results/' || true)
    [ -z "$left$(find "$work" -name '#*')" ] && return
    sleep 0.5
  done
  fail "left: $left"
}
run=(fsduel run smoke --store /results --quiet --json -)
verified() {
  grep -q '"schema_version"' "$work/out" && [ "$(grep -c '"status": *"passed"' "$work/out")" -ge 1 ] \
    && ! grep -qE '"status": *"(failed|invalid|error)"' "$work/out"
}

code=$(contain --privileged --rootfs "$root" "${run[@]}")
expect "privileged, with the devices of the machine" "$code" 0
verified || expect "its JSON" unreadable verified
nothing_left

# Nothing but what the kernel makes of a bare tmpfs: a container engine that gives no devices.
bare='mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && mknod /dev/loop-control c 10 237 &&
  mknod -m 666 /dev/urandom c 1 9 && exec "$@"'
code=$(contain --privileged --rootfs "$root" sh -c "$bare" sh "${run[@]}")
expect "privileged, with an almost empty /dev" "$code" 0
verified || expect "its JSON" unreadable verified
nothing_left

code=$(contain --rootfs "$root" "${run[@]}")
expect "without privileges" "$code" 69
grep -q -e '--privileged' "$work/err" || expect "the flags that it needs" "$(tail -n 3 "$work/err")" "--privileged"
[ ! -s "$work/out" ] || expect "standard output without a result" "$(head -c 100 "$work/out")" ""
nothing_left
say "all passed"
