#!/bin/sh
# Installs what tests use beside Go: for the differential tests the TypeScript
# peer and a schema of SARIF (needs node and npm) and, where apt exists, QEMU for running code of other
# machines; for runtime/rdma/iwarp iproute2, which makes networks (it takes root); for the lab's own tests
# what packs and unpacks kernels and archives; for runtime/rdma/verbs a C compiler and rdma-core's headers; for runtime/gpu
# OpenCL with PoCL, a device that is the processor; for the command Neovim, which its language server is tried with, and man.
set -eu
cd "$(dirname "$0")"

# tools 0.16.0 asks for an older lib than the newest, which works with it and is
# what its users get; hence --legacy-peer-deps. The lock names no registry.
npm ci --legacy-peer-deps --no-audit --no-fund --omit-lockfile-registry-resolved

packages=
if ! { command -v qemu-s390x-static && command -v qemu-i386-static && command -v qemu-aarch64-static; } >/dev/null; then
  packages=qemu-user-static
fi
if ! { command -v ip && command -v tc; } >/dev/null; then
  packages="$packages iproute2"
fi
if ! { command -v cpio && command -v xz && command -v zstd; } >/dev/null; then
  packages="$packages cpio xz-utils zstd"
fi
if [ ! -e /usr/include/rdma/rdma_cma.h ] || [ ! -e /usr/include/infiniband/verbs.h ] || ! command -v cc >/dev/null; then
  packages="$packages gcc libc6-dev libibverbs-dev librdmacm-dev"
fi
if ! ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || ! ldconfig -p | grep -q libOpenCL.so.1; then
  packages="$packages ocl-icd-libopencl1 pocl-opencl-icd"
fi
if ! command -v nvim >/dev/null; then
  packages="$packages neovim"
fi
if ! command -v man >/dev/null; then
  packages="$packages man-db"
fi
if ! command -v chromium >/dev/null; then
  packages="$packages chromium"
fi
[ -n "$packages" ] || exit 0
if command -v apt-get >/dev/null; then
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -q
  $sudo apt-get install -y -q $packages
else
  echo "deps.sh: no apt-get here; install by hand: $packages" >&2
fi
