#!/usr/bin/env bash
# Compiles networks to libraries and uses them as others would: from C, linked in both ways, two in
# one program, one for two shapes, and for the other architecture, in an emulator where there is one.
# Usage: tests/library.sh LATHE native|cross|two|shapes [NETWORK...]
# Exit status 77 (skipped) where a tool is absent.
set -euo pipefail
lathe=$1 part=$2
shift 2
networks=("${@:-}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "failed: $*"; exit 1; }
need() {
  command -v "$1" >/dev/null || { echo "skipped: $1 is not installed (scripts/setup --all)"; exit 77; }
}
need python3
need cc

# Writes random inputs of network "$1" to x.npy and, as bytes, to x.raw; what Lathe makes of it to
# expected.npy. The network has one input and one output.
prepare() {
  "$lathe" inspect "$1" --json >info.json
  python3 - <<'PYTHON'
import array
import json
import math
import random

shape = json.load(open("info.json"))["inputs"][0]["type"]
extents = [int(n) for n in shape[shape.index("[") + 1 : -1].split("x")]
random.seed(1)
x = array.array("f", (random.gauss(0, 1) for _ in range(math.prod(extents)))).tobytes()
header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(extents)}, }}"
open("x.npy", "wb").write(b"\x93NUMPY\x01\x00v\x00" + header.ljust(117).encode() + b"\n" + x)
open("x.raw", "wb").write(x)
PYTHON
  "$lathe" run "$1" --input x.npy --output expected.npy >/dev/null
}

# Checks that the bytes of "$1" are expected.npy but for rounding; "exact": to the last bit.
compare() {
  python3 - "$1" "${2-}" <<'PYTHON'
import array
import struct
import sys

file = open("expected.npy", "rb").read()
expected = array.array("f", file[10 + struct.unpack("<H", file[8:10])[0] :])
actual = array.array("f", open(sys.argv[1], "rb").read())
if len(actual) != len(expected):
    sys.exit(f"{sys.argv[1]}: has {len(actual)} elements, not {len(expected)}")
error = max(abs(a - b) for a, b in zip(actual, expected))
scale = max(map(abs, expected))
if not error <= (0 if sys.argv[2] == "exact" else 1e-4 * max(scale, 1)):
    sys.exit(f"{sys.argv[1]}: differs by {error} where values reach {scale}")
PYTHON
}

# A program that reads x.raw, runs the network NAME, and writes the file named by its argument.
cat >one.c <<'C'
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#define JOIN(a, b) a##b
#define EACH(a, b) JOIN(a, b)
#define F(x) EACH(NAME, x)
int main(int count, char** arguments) {
  void* x = malloc(F(_input_bytes)(0));
  void* y = malloc(F(_output_bytes)(0));
  FILE* file = fopen("x.raw", "rb");
  if (count != 2 || !file || fread(x, 1, F(_input_bytes)(0), file) != (size_t)F(_input_bytes)(0))
    return 3;
  fclose(file);
  struct F(_model)* model = F(_create)(2);
  if (!model) return fprintf(stderr, "%s\n", F(_error)()), 4;
  const void* inputs[] = {x};
  void* outputs[] = {y};
  if (F(_run)(model, inputs, outputs)) return fprintf(stderr, "%s\n", F(_error)()), 5;
  F(_destroy)(model);
  file = fopen(arguments[1], "wb");
  if (!file || fwrite(y, 1, F(_output_bytes)(0), file) != (size_t)F(_output_bytes)(0)) return 6;
  fclose(file);
  free(x);
  free(y);
  return 0;
}
C

# Builds one.c against the library in folder "$1" with compiler "$2" in both ways, runs it with the
# command that follows, and compares.
check_programs() {
  local out=$1 compiler=$2
  shift 2
  "$compiler" -Wall -Werror -DNAME=net -I"$out" one.c "$out/libmodel.so" -lm -lpthread \
    -Wl,-rpath,"$PWD/$out" -o shared
  "$compiler" -Wall -Werror -DNAME=net -I"$out" one.c "$out/model.a" -lm -lpthread -o static
  for program in shared static; do
    rm -f y.raw
    "$@" "./$program" y.raw || fail "$program: status $?"
    compare y.raw || fail "$program"
  done
}

# Only the functions of the header are to be seen, and nothing else is needed.
check_symbols() {
  local seen declared needed
  seen=$(nm -D --defined-only "$1/libmodel.so" | awk '{ print $3 }' | sort)
  declared=$(grep -o 'net_[a-z_]*(' "$1/model.h" | grep -v '_model' | tr -d '(' | sort -u)
  [[ $seen == "$declared" ]] || fail "exported: $seen; declared: $declared"
  needed=$(readelf -d "$1/libmodel.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort | xargs)
  [[ $needed == "libc.so.6 libm.so.6" ]] || fail "needed: $needed"
}

native() {
  prepare "$1"
  "$lathe" compile "$1" -o out --name net >/dev/null
  for threads in 1 2; do
    "$lathe" run out --input x.npy --output y.npy --threads "$threads" >/dev/null
    cmp expected.npy y.npy || fail "'lathe run out' differs from 'lathe run $1'"
  done
  check_symbols out
  check_programs out cc env
  (cd out && cc -Wall -Werror example.c -L. -lmodel -lm -lpthread -o example)
  LD_LIBRARY_PATH=out out/example x.raw | grep -q '^[0-9]* threads: ' || fail example
  "$lathe" compile "$1" -o out --thorough --name net >/dev/null
  check_programs out cc env
}

cross() {
  local target prefix emulator
  case $(uname -m) in
    aarch64) target=x86-64-v3 prefix=x86_64-linux-gnu emulator=(qemu-x86_64 -cpu max) ;;
    x86_64) target=aarch64 prefix=aarch64-linux-gnu emulator=(qemu-aarch64) ;;
    *) echo "skipped: there is no other architecture"; exit 77 ;;
  esac
  prepare "$1"
  "$lathe" compile "$1" -o out --target "$target" --name net >/dev/null
  check_symbols out
  if "$lathe" run out --input x.npy >log 2>&1; then fail "ran code for $target"; fi
  grep -q "is compiled for $target" log || fail "$(cat log)"
  need "${emulator[0]}"
  need "$prefix-gcc"
  emulator+=(-L "/usr/$prefix")
  check_programs out "$prefix-gcc" "${emulator[@]}"
  # The emulator lacks what x86-64-v4 has: the library says so, and does not fall over.
  if [[ $target == x86-64-v3 ]]; then
    "$lathe" compile "$1" -o wide --target x86-64-v4 --name net >/dev/null
    "$prefix-gcc" -DNAME=net -Iwide one.c wide/model.a -lm -lpthread -o wide/program
    if "${emulator[@]}" wide/program y.raw 2>log; then
      compare y.raw || fail "x86-64-v4"
    else
      grep -q "compiled for x86-64-v4, but" log || fail "$(cat log)"
    fi
  fi
}

# One library for two batch sizes: a program finds the one for three samples, and gives it three.
shapes() {
  prepare "$1"
  "$lathe" compile "$1" --also batch=3 -o out --name net >/dev/null
  check_symbols out
  check_programs out cc env
  cat >shapes.c <<'C'
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  int64_t in = net_input_bytes(0), out = net_output_bytes(0);
  int64_t shape[8];
  memcpy(shape, net_input_shape(0), net_input_rank(0) * sizeof *shape);
  shape[0] = 2;
  const int64_t* shapes[] = {shape};
  if (net_variant_count() != 2 || net_variant_for(shapes) != -1 || !*net_error()) return 3;
  shape[0] = 3;
  int variant = net_variant_for(shapes);
  if (variant != 1 || net_variant_input_shape(variant, 0)[0] != 3) return 4;
  if (net_variant_input_bytes(variant, 0) != 3 * in) return 5;
  if (net_variant_output_bytes(variant, 0) != 3 * out) return 6;
  if (net_variant_output_shape(variant, 0)[0] != 3) return 7;
  if (net_create_variant(2, 1) || net_variant_input_shape(2, 0)) return 8;
  char *x = malloc(3 * in), *y = malloc(3 * out);
  FILE* file = fopen("x.raw", "rb");
  if (!file || fread(x, 1, in, file) != (size_t)in) return 9;
  fclose(file);
  memcpy(x + in, x, in), memcpy(x + 2 * in, x, in);
  struct net_model* model = net_create_variant(variant, 2);
  if (!model || net_run(model, (const void*[]){x}, (void*[]){y})) return 10;
  net_destroy(model);
  file = fopen("y.raw", "wb");
  if (!file || fwrite(y + 2 * out, 1, out, file) != (size_t)out) return 11;
  fclose(file);
  free(x), free(y);
  return 0;
}
C
  cc -Wall -Werror -Iout shapes.c out/model.a -lm -lpthread -o three
  ./three || fail "three samples: status $?"
  compare y.raw || fail "three samples"
}

# Two libraries in one program, linked statically: of the same network, so that they share every
# name but those of the functions; and with all members, needed or not.
two() {
  prepare "$1"
  "$lathe" compile "$1" -o a --name first >/dev/null
  "$lathe" compile "$1" -o b --name second >/dev/null
  cat >two.c <<'C'
#include "a/model.h"
#include "b/model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  size_t in = first_input_bytes(0), out = second_output_bytes(0);
  void *x = malloc(in), *y = malloc(out), *z = malloc(out);
  FILE* file = fopen("x.raw", "rb");
  if (!file || fread(x, 1, in, file) != in) return 3;
  fclose(file);
  struct first_model* a = first_create(2);
  struct second_model* b = second_create(1);
  if (!a || !b) return 4;
  if (first_run(a, (const void*[]){x}, (void*[]){y})) return 5;
  if (second_run(b, (const void*[]){x}, (void*[]){z})) return 6;
  if (memcmp(y, z, out)) return 7;
  if (second_input_name(9) || !*second_error()) return 8;
  first_destroy(a);
  second_destroy(b);
  file = fopen("y.raw", "wb");
  if (!file || fwrite(y, 1, out, file) != out) return 9;
  fclose(file);
  free(x), free(y), free(z);
  return 0;
}
C
  for how in "" -Wl,--whole-archive; do
    cc -Wall -Werror two.c $how a/model.a b/model.a ${how:+-Wl,--no-whole-archive} -lm -lpthread \
      -o two
    ./two || fail "two in one program: status $?"
    compare y.raw exact || fail "two in one program"
  done
}

for network in "${networks[@]}"; do
  rm -rf out wide a b
  "$part" "$network"
done
