#!/usr/bin/env bash
# Checks every case of the given folders: the commands of X.in must print what X.out holds.
# Usage: tests/golden.sh [--update] LATHE FOLDER...     --update rewrites the .out files
# X.in holds "$ lathe ..." lines, run in the case's folder, and # comments; see transcript.sh.
set -euo pipefail
source "$(dirname "$0")/transcript.sh"

update=
[[ ${1-} != --update ]] || { update=yes; shift; }
(($#)) || { echo "usage: tests/golden.sh [--update] LATHE FOLDER..." >&2; exit 2; }
use_program "$1"
shift

failures=()
fail() {
  echo "$1"
  failures+=("$1")
}

# Prints the transcript of the case in file "$1"; fails on a line that is no command or comment.
run_case() {
  local line
  while IFS= read -r line || [[ -n $line ]]; do
    case $line in
      '$ '*) continue_command "${line#'$ '}"; print_run "$command" ;;
      '#'* | '') ;;
      *) echo "neither a command nor a comment: $line" >&2; return 1 ;;
    esac
  done <"$1"
}

# Runs case "$1" (a path without .in) and compares or rewrites its .out file.
check_case() {
  local name=$1 actual
  actual=$(run_case "${name##*/}.in" && printf .) || { fail "$name.in: is malformed"; return; }
  actual=${actual%.}
  [[ $actual == *'$ lathe '* ]] || { fail "$name.in: has no \"\$ lathe\" command"; return; }
  if [[ -n $update ]]; then
    printf '%s' "$actual" >"${name##*/}.out"
  elif [[ ! -f ${name##*/}.out ]]; then
    fail "$name.out: is missing; run: make golden"
  elif ! diff -u --label "$name.out" --label "now" "${name##*/}.out" <(printf '%s' "$actual"); then
    fail "$name: differs; if the new output is right, run: make golden"
  fi
}

root=$PWD
shopt -s nullglob
for folder; do
  cd "$root" && cd "$folder" || { fail "$folder: is not a folder"; continue; }
  cases=(*.in)
  ((${#cases[@]})) || fail "$folder: has no cases"
  for case in "${cases[@]}"; do check_case "$folder/${case%.in}"; done
  for output in *.out; do
    [[ -f ${output%.out}.in ]] || fail "$folder/$output: has no .in file; delete it"
  done
done

((${#failures[@]})) || exit 0
printf '\n%d failed:\n' "${#failures[@]}"
printf '  %s\n' "${failures[@]}"
exit 1
