# For the scripts beside: what they say, what they need, and a root file system of Debian 12. To be sourced.

say() { echo "${0##*/}: ${SECONDS} s: $*" >&2; }
fail() { say "FAILED: $*"; exit 1; }

# need PACKAGE=PROGRAM...: ends with 69 where one is missing, or where we are not root.
need() {
  local missing=()
  for pair in "$@"; do
    PATH=$PATH:/usr/sbin:/sbin command -v "${pair#*=}" >/dev/null || missing+=("${pair%%=*}")
  done
  [ ${#missing[@]} = 0 ] || { say "not all programs are here; next: apt install ${missing[*]}"; exit 69; }
  [ "$(id -u)" = 0 ] || { say "not root; next: sudo $0"; exit 69; }
}

# rootfs FOLDER PACKAGE,...: made once for these packages; from the mirror that this machine uses.
rootfs() {
  local folder=$1 packages=$2 mirror
  if [ "$(cat "$folder.complete" 2>/dev/null)" = "$packages" ]; then return; fi
  say "debootstrap into $folder"
  rm -rf "$folder" "$folder.complete"
  mkdir -p "$folder"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | grep -v security | head -1)
  # In a mount namespace: it can leave the folder's /proc mounted.
  unshare --mount --propagation private \
    debootstrap --variant=minbase --include="$packages" bookworm "$folder" "$mirror" >"$folder.log" \
    || { tail "$folder.log" >&2; fail "debootstrap"; }
  echo "$packages" >"$folder.complete"
}
