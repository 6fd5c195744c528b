# Sourced by the tests of "make install", with a build folder: installs it into $prefix. $folder is
# for whatever else a test writes; all of it is gone in the end.
set -euo pipefail

folder=$(mktemp -d)
prefix=$folder/lathe
trap 'rm -r "$folder"' EXIT
fail() {
  echo "$1" >&2
  exit 1
}

cmake --install "$1" --prefix "$prefix" >/dev/null
