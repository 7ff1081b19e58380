#!/usr/bin/env bash
# box.sh FOLDER: a Vagrant box of Debian 12 in FOLDER (debian.box, and catalog.json, which names it), made once.
# Without a loop device, a mount or a boot loader's installer: mkfs.ext4 fills the partition of a raw file,
# and GRUB's two parts are put where they look for each other, into the first sector and the gap behind it.
set -euo pipefail
. "$(dirname "$0")/../shared/rootfs.sh"
folder=$1 root=$1/rootfs size_gib=4
packages=linux-image-amd64,initramfs-tools,systemd-sysv,udev,dbus,openssh-server,sudo,ifupdown,isc-dhcp-client,iproute2,rsync,kmod,e2fsprogs,procps,ca-certificates

# What Vagrant asks of a guest: https://developer.hashicorp.com/vagrant/docs/boxes/base
guest() {
  local keys
  keys=$(ls -d /usr/share/rubygems-integration/all/gems/vagrant-*/keys | head -1)
  echo bookworm >"$root/etc/hostname"
  printf '127.0.0.1 localhost\n127.0.1.1 bookworm\n' >"$root/etc/hosts"
  echo 'LABEL=root / ext4 errors=remount-ro 0 1' >"$root/etc/fstab"
  printf 'auto lo\niface lo inet loopback\nallow-hotplug eth0\niface eth0 inet dhcp\n' >"$root/etc/network/interfaces"
  chroot "$root" id vagrant >/dev/null 2>&1 || chroot "$root" useradd -m -s /bin/bash vagrant
  echo 'vagrant:vagrant' | chroot "$root" chpasswd
  echo 'vagrant ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/vagrant"
  chmod 440 "$root/etc/sudoers.d/vagrant"
  install -d -m 700 "$root/home/vagrant/.ssh"
  install -m 600 "$keys/vagrant.pub" "$root/home/vagrant/.ssh/authorized_keys"
  chroot "$root" chown -R vagrant:vagrant /home/vagrant/.ssh
  echo 'UseDNS no' >"$root/etc/ssh/sshd_config.d/vagrant.conf"
  rm -f "$root/etc/resolv.conf"
  : >"$root/etc/machine-id"
}

# An emulated processor has to unpack it: the drivers of virtual disks and the root's file system only, and
# not made anew when a package asks for that in the guest (45 s each).
initramfs() {
  mkdir -p "$root/etc/initramfs-tools/conf.d"
  echo 'MODULES=list' >"$root/etc/initramfs-tools/conf.d/vagrant"
  printf '%s\n' virtio_pci virtio_blk virtio_net ext4 crc32c_generic >"$root/etc/initramfs-tools/modules"
  sed -i 's/^update_initramfs=.*/update_initramfs=yes/' "$root/etc/initramfs-tools/update-initramfs.conf"
  unshare --mount --propagation private sh -c \
    "mount -t proc proc '$root/proc'; mount -t sysfs sysfs '$root/sys'; chroot '$root' update-initramfs -u -k all" >&2
  sed -i 's/^update_initramfs=.*/update_initramfs=no/' "$root/etc/initramfs-tools/update-initramfs.conf"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
}

boot_menu() {
  local version
  version=$(ls "$root/boot" | sed -n 's/^vmlinuz-//p' | sort -V | tail -1)
  mkdir -p "$root/boot/grub"
  cat >"$root/boot/grub/grub.cfg" <<END
set timeout=0
menuentry 'Debian' {
  linux /boot/vmlinuz-$version root=LABEL=root ro net.ifnames=0 biosdevname=0 console=ttyS0,115200n8
  initrd /boot/initrd.img-$version
}
END
}

# The partition begins at sector 2048; sector 0 keeps its table (from byte 440), 1 to 2047 take GRUB.
disk() {
  local raw=$folder/box.raw core=$folder/core.img
  rm -f "$raw"
  truncate -s ${size_gib}G "$raw"
  echo '2048,,L,*' | sfdisk --quiet "$raw"
  mkfs.ext4 -q -F -L root -E offset=1048576,lazy_itable_init=1 -d "$root" "$raw" $((size_gib * 1024 * 1024 - 1024))k
  grub-mkimage -O i386-pc -o "$core" -p '(hd0,msdos1)/boot/grub' biosdisk part_msdos ext2 normal linux configfile
  [ "$(stat -c %s "$core")" -lt $((2047 * 512)) ] || fail "GRUB does not fit before the partition"
  dd if=/usr/lib/grub/i386-pc/boot.img of="$raw" bs=440 count=1 conv=notrunc status=none
  dd if="$core" of="$raw" bs=512 seek=1 conv=notrunc status=none
  qemu-img convert -O qcow2 "$raw" "$folder/box.img"
  rm "$raw" "$core"
}

# A box from a catalog has a version; from a file alone it has none, and Vagrant warns.
pack() {
  echo "{\"provider\":\"libvirt\",\"format\":\"qcow2\",\"virtual_size\":$size_gib}" >"$folder/metadata.json"
  tar -C "$folder" -cf "$folder/debian.box" metadata.json box.img
  rm "$folder/metadata.json" "$folder/box.img"
  cat >"$folder/catalog.json" <<END
{ "name": "fsduel/debian12", "versions": [ { "version": "1", "providers": [
  { "name": "libvirt", "url": "file://$folder/debian.box", "checksum_type": "sha256",
    "checksum": "$(sha256sum "$folder/debian.box" | cut -d' ' -f1)" } ] } ] }
END
}

[ "$folder/catalog.json" -nt "$0" ] && exit 0
mkdir -p "$folder"
rootfs "$root" "$packages"
say "the box"
guest
initramfs
boot_menu
disk
pack
rm -rf "$root" "$root.complete"
