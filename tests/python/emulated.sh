#!/usr/bin/env bash
# Runs the wheel of an architecture in an emulator: a nest, a network, the command. Not part of "make
# test": "make wheel ARCH=aarch64" makes that wheel, and the Python that runs it (scripts/setup-cross).
# Usage: tests/python/emulated.sh ARCH
set -euo pipefail

arch=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
system=$root/build/sysroot-$arch
[[ $arch != "$(uname -m)" ]] || system=/
libraries=$system/usr/lib/$arch-linux-gnu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

for wheel in "$root/build/wheels"/lathe-*_"$arch".whl "$root"/build/wheels/lathe_runtime-*.whl; do
  python3 -m zipfile -e "$wheel" "$folder/packages"
done
emulate() {
  "qemu-$arch" -L "$system" -E XDG_CACHE_HOME="$folder/cache" -E PYTHONPATH="$folder/packages" \
    -E LD_LIBRARY_PATH="$libraries/blas:$libraries/lapack" "$@"
}

emulate "$system/usr/bin/python3" - <<'EOF'
import platform
import lathe
import numpy

conv = lathe.nest("conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1)")
grouped = conv.apply("split(ci, 8) -> interchange(ci.o, ci.i) -> group(8)")
assert grouped.accepted and grouped.macs * 8 == conv.macs
net = lathe.model("nasbench201:6111")
y = net(numpy.ones((1, 3, 32, 32), numpy.float32))
assert y.shape == (1, 10) and numpy.isfinite(y).all() and y.any()
print(platform.machine(), lathe.__version__, y[0, :3])
EOF
chmod +x "$folder/packages/lathe/native/lathe"  # as pip does
emulate "$folder/packages/lathe/native/lathe" --version
