#!/usr/bin/env bash
# Checks that the ```console blocks of documents show what their "$ lathe" commands really print.
# Usage: tests/lessons.sh [--update] LATHE FILE.md...     --update rewrites the outputs in place
# Commands run in a scratch folder holding examples/; those that do not start with "lathe " do not.
set -euo pipefail
source "$(dirname "$0")/transcript.sh"

update=
[[ ${1-} != --update ]] || { update=yes; shift; }
(($#)) || { echo "usage: tests/lessons.sh [--update] LATHE FILE.md..." >&2; exit 2; }
use_program "$1"
shift

examples=$(cd "$(dirname "$0")/.." && pwd)/examples
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Prints the document on standard input with the outputs its commands have now.
render() {
  local line where=text
  while IFS= read -r line || [[ -n $line ]]; do
    case $where:$line in
      text:'```console') where=console ;;
      text:*) ;;
      *:'```') where=text ;;
      *:'$ lathe '*)
        where=output
        continue_command "${line#'$ '}"
        print_run "$command"
        continue
        ;;
      *:'$ '*) where=console ;;
      output:*) continue ;;
    esac
    printf '%s\n' "$line"
  done
}

failed=0
for file; do
  folder=$scratch/${file##*/}.d
  mkdir -p "$folder"
  [[ ! -d $examples ]] || cp -r "$examples" "$folder/examples"
  (cd "$folder" && render) <"$file" >"$scratch/rendered"
  if [[ -n $update ]]; then
    cmp -s "$scratch/rendered" "$file" || cat "$scratch/rendered" >"$file"
  elif ! diff -u --label "$file" --label "now" "$file" "$scratch/rendered"; then
    echo "$file: differs; if the new output is right, run: make golden"
    failed=1
  fi
done
exit $failed
