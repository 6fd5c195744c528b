#!/usr/bin/env bash
# liblathe.so from C: what "make install" puts down is found by CMake and by pkg-config, exports the
# functions of lathe.h and nothing else, and does what tests/python/interface.c asks.
# Usage: tests/python/interface.sh BUILD_FOLDER
tests=$(cd "$(dirname "$0")" && pwd)
source "$tests/../make_install.sh" "$1"

library=$(find "$prefix" -name 'liblathe.so')

declared=$(grep -o 'lathe_[a-z_]*(' "$prefix/include/lathe.h" | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort -u)
[[ $(comm -13 <(echo "$declared") <(echo "$exported")) == "" ]] ||
  fail "exported, but not declared: $(comm -13 <(echo "$declared") <(echo "$exported") | head)"
[[ $(comm -23 <(echo "$declared") <(echo "$exported")) == "" ]] ||
  fail "declared, but not exported: $(comm -23 <(echo "$declared") <(echo "$exported"))"

mkdir "$folder/user"
cat >"$folder/user/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(Lathe 0.1 REQUIRED)
add_executable(interface $tests/interface.c)
target_link_libraries(interface PRIVATE Lathe::lathe m)
EOF
cmake -S "$folder/user" -B "$folder/user/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$folder/user/build" >/dev/null
"$folder/user/build/interface" || fail "what CMake built does not work"

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$(dirname "$library")/pkgconfig
  read -ra flags < <(pkg-config --cflags --libs lathe)
  "${CC:-cc}" "$tests/interface.c" "${flags[@]}" -lm -o "$folder/interface"
  LD_LIBRARY_PATH=$(dirname "$library") "$folder/interface" || fail "what pkg-config built does not"
fi
