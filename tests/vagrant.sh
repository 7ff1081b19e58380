#!/usr/bin/env bash
# The Vagrantfile, from `vagrant up` to `vagrant destroy`, on a machine without KVM, without a box server and
# without libvirt running: a box made here, a libvirtd of its own, an emulated processor (so the figures mean
# nothing, and the providers' KVM is not tried). Some 5 minutes. Needs root, the way to a Debian mirror, and
# 4 GB below target/vagrant, of which the box (1 GB) stays for the next time.
#
# All that is started lives in a process, a mount and a network namespace of its own, whose end the kernel makes
# the end of all of it: also when this script is killed. So there is nothing to find and to stop by name, and
# /etc, /run and /var of this machine do not notice.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/shared/rootfs.sh
folder=$PWD/target/vagrant
work=$folder/work
program=$PWD/target/dist/fsduel
export VAGRANT_HOME=$work/home VAGRANT_DOTFILE_PATH=$work/machine VAGRANT_DEFAULT_PROVIDER=libvirt \
  VAGRANT_CHECKPOINT_DISABLE=1 VAGRANT_LIBVIRT_DRIVER=qemu \
  FSDUEL_BOX=fsduel/debian12 FSDUEL_SUITE=smoke FSDUEL_DISK=1

# ---- The namespaces, from the outer to the inner

# What of this machine a libvirt or a guest could change.
machine() {
  ls /sys/class/net
  grep -v "$work" /proc/self/mounts
  find /etc/libvirt /var/lib/libvirt /run/libvirt /run/netns 2>/dev/null || true
}

outer() {
  need vagrant=vagrant vagrant-libvirt=ruby libvirt-daemon-system=libvirtd libvirt-clients=virsh \
    qemu-system-x86=qemu-system-x86_64 qemu-utils=qemu-img debootstrap=debootstrap dnsmasq-base=dnsmasq \
    grub-common=grub-mkimage grub-pc-bin=grub-mkimage fdisk=sfdisk slirp4netns=slirp4netns tini=tini rsync=rsync \
    openssh-client=scp iproute2=ip
  mkdir -p "$folder"
  exec 9>"$folder/lock"
  flock --nonblock 9 || { say "another one runs, and holds $folder/lock"; exit 75; }
  [ -x "$program" ] || cargo xtask dist
  tests/vagrant/box.sh "$folder"
  rm -rf "$work"
  mkdir -p "$work"
  local before code=0
  before=$(machine)
  # tini waits for what libvirt lets go: it asks again and again for a process that nobody has waited for.
  setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
    tini -- "$0" --inner || code=$?
  [ "$before" = "$(machine)" ] || { diff <(echo "$before") <(machine) >&2 || true; fail "this machine has changed"; }
  [ $code = 0 ] || { say "logs: $work"; exit $code; }
  rm -rf "$work"
  say "all passed"
}

# The way out of the network namespace, for apt in the guest, which has no other.
inner() {
  touch "$work/network"
  unshare --net="$work/network" ip link set lo up
  slirp4netns --configure --mtu=1400 --netns-type=path "$work/network" tap0 >"$work/slirp4netns.log" 2>&1 &
  nsenter --net="$work/network" unshare --mount --propagation private "$0" --round
}

# Folders of the machine that libvirt writes to, and those by which it would find the machine's own services.
own_folders() {
  local names
  names=$(realpath --canonicalize-missing /etc/resolv.conf)
  mkdir -p "$work"/{etc,lib,cache,log} /etc/libvirt /var/lib/libvirt /var/cache/libvirt /var/log/libvirt
  mount --bind "$work/etc" /etc/libvirt
  mount --bind "$work/lib" /var/lib/libvirt
  mount --bind "$work/cache" /var/cache/libvirt
  mount --bind "$work/log" /var/log/libvirt
  mount -t tmpfs none /run
  umount --lazy /sys
  mount -t sysfs sysfs /sys
  echo 'nameserver 10.0.2.3' >"$work/resolv.conf"
  case $names in /run/*) mkdir -p "$(dirname "$names")"; touch "$names" ;; esac
  mount --bind "$work/resolv.conf" "$names"
  # A KVM that root sees and a guest's user does not is looked for again at each step.
  touch "$work/no-kvm"
  if [ -e /dev/kvm ]; then mount --bind "$work/no-kvm" /dev/kvm; fi
}

virsh_() { virsh --quiet --connect qemu:///system "$@"; }

start_libvirt() {
  # Without a log daemon, and without a /dev of each guest, which cannot be made round our /dev/kvm.
  printf '%s\n' 'user = "root"' 'group = "root"' 'namespaces = [ ]' 'stdio_handler = "file"' >/etc/libvirt/qemu.conf
  echo 'auth_unix_rw = "none"' >/etc/libvirt/libvirtd.conf
  libvirtd >"$work/libvirtd.log" 2>&1 &
  libvirtd=$!
  for _ in $(seq 150); do
    if virsh_ version >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  tail "$work/libvirtd.log" >&2
  fail "libvirtd does not answer"
}

# ---- The round

# step WHAT COMMAND...: its output is in $work/WHAT.log, and shown where it fails.
step() {
  local what=$1
  shift
  "$@" >"$work/$what.log" 2>&1 || { tail -n 40 "$work/$what.log" >&2; fail "$what"; }
  say "ok: $what"
}

# The report files as the Vagrantfile says to fetch them, into a folder of their own.
fetch() {
  rm -rf "$work/report"
  vagrant ssh-config >"$work/ssh.conf"
  scp -q -r -F "$work/ssh.conf" default:/vagrant/report "$work"
}

# Every case passed on the second disk and not on the first, and each format is there.
read -r -d '' judge <<'RUBY' || true
  report = JSON.parse(File.read(ARGV[0] + "/smoke.json"))
  disk = report.fetch("manifest").fetch("store").fetch("path")
  cases = report.fetch("cases")
  wrong = []
  wrong << "store is #{disk}" unless disk == "/dev/vdb"
  wrong << "file systems: #{cases.map { |one| one["configuration"]["id"] }}" \
    unless cases.map { |one| one["configuration"]["id"] }.uniq.sort == %w[btrfs ext4 xfs]
  wrong += cases.reject { |one| one["status"] == "passed" }.map { |one| "#{one["configuration"]["id"]}: #{one["status"]}" }
  wrong += cases.reject { |one| one["mkfs_command"].include?(disk) }.map { |one| one["mkfs_command"] }
  wrong += cases.reject { |one| one["image_bytes"] == 1 << 30 }.map { |one| "size: #{one["image_bytes"]}" }
  wrong << "no HTML" unless File.read(ARGV[0] + "/smoke.html").include?("</html>")
  wrong << "no table" unless File.read(ARGV[0] + "/smoke.txt").include?("ext4")
  abort wrong.join("\n") unless wrong.empty?
  puts report.fetch("run_id")
RUBY
run_id() { ruby -rjson -e "$judge" "$work/report"; }

# A second time nothing is built or installed again, and the suite has run again.
again() {
  local first=$1 second
  step provision vagrant provision
  fetch
  second=$(run_id) || fail "the second report"
  [ "$first" != "$second" ] || fail "the report is that of the first run"
  ! grep -qE 'Unpacking|Compiling' "$work/provision.log" || fail "the second time installs again"
}

nothing_left() {
  local left
  left=$(virsh_ list --all --name; virsh_ vol-list default | grep -v box_image || true)
  [ -z "$(echo "$left" | tr -d ' \n')" ] || fail "left after destroy: $left"
  if pgrep --count qemu-system >/dev/null; then fail "QEMU still runs"; fi
}

round() {
  local first
  own_folders
  start_libvirt
  step validate vagrant validate
  step box vagrant box add --provider libvirt "$folder/catalog.json"
  step up vagrant up
  fetch
  first=$(run_id) || fail "the report"
  say "ok: report $first"
  again "$first"
  step destroy vagrant destroy --force
  nothing_left
  kill "$libvirtd"
  wait "$libvirtd" || fail "libvirtd ended with $?"
}

case ${1:-} in
  "") outer ;;
  --inner) inner ;;
  --round) round ;;
  *) say "usage: $0"; exit 2 ;;
esac
