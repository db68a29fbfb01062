#!/bin/sh
# Installs what the differential tests use beside Go: the TypeScript peer (needs
# node and npm) and, where apt exists, QEMU for running code of other machines.
set -eu
cd "$(dirname "$0")"

# tools 0.16.0 asks for an older lib than the newest, which works with it and is
# what its users get; hence --legacy-peer-deps. The lock names no registry.
npm ci --legacy-peer-deps --no-audit --no-fund --omit-lockfile-registry-resolved

if command -v qemu-s390x-static >/dev/null && command -v qemu-i386-static >/dev/null && command -v qemu-aarch64-static >/dev/null; then
  exit 0
fi
if command -v apt-get >/dev/null; then
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -q
  $sudo apt-get install -y -q qemu-user-static
else
  echo "deps.sh: no apt-get here; install qemu-user-static by hand" >&2
fi
