#!/usr/bin/env bash
# Runs ONNX's backend tests: none may fail, and at least so many must pass.
# Usage: tests/conformance.sh LATHE SUITE LEAST [PATTERN]
# SUITE is a folder or an archive of it. Exit status 77 (skipped) where it is absent.
set -euo pipefail
lathe=$1 suite=$2 least=$3 pattern=${4-}

if [[ ! -e $suite ]]; then
  echo "skipped: ONNX's backend tests are not at $suite"
  exit 77
fi
folder=$suite
if [[ -f $suite ]]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  tar -xf "$suite" -C "$folder"
fi

status=0
report=$("$lathe" conformance "$folder" --only "$pattern") || status=$?
sed -n '/^tests  /,$p' <<<"$report"
passed=$(awk '$1 == "all" { print $2 }' <<<"$report")
if ((passed < least)); then
  echo "only $passed tests passed; at least $least must"
  exit 1
fi
exit "$status"
