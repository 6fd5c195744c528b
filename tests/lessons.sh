#!/usr/bin/env bash
# Checks that the console blocks of documents show what their "$ " commands really print.
# Usage: tests/lessons.sh [--update] LATHE FILE.md...     --update rewrites the outputs in place
# Commands run in a scratch folder that holds examples/, one folder for each document.
# A block opens with ```console, or with ```console varies where numbers depend on the machine: there
# any number stands for any other, and any spaces for any others. A shown line that is just "..."
# stands for any lines, or none. Blocks of other kinds, and indented ones, are not run.
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

# Prints the text "$1" with numbers and spaces that are all alike.
without_numbers() {
  sed -E 's/[-+]?[0-9]+([.,][0-9]+)*(e[-+]?[0-9]+)?/0/g; s/ +/ /g' <<<"$1"
}

# Prints a pattern of bash for the shown text "$1", every line of which begins with a newline.
pattern_of() {
  local line
  while IFS= read -r line; do
    if [[ $line == ... ]]; then
      printf "?(\n*)"
    else
      printf '\n%s' "$(sed 's/[^[:alnum:] ]/\\&/g' <<<"$line")"
    fi
  done < <(printf '%s' "$1")
}

# Does the text "$2" read as "$1" shows it, in a block that opens with "$3"?
is_shown() {
  local shown=$1 printed=$2 pattern
  if [[ $3 == *varies ]]; then
    shown=$(without_numbers "$shown")
    printed=$(without_numbers "$printed")
  fi
  pattern=$(pattern_of "${shown%$'\n'}"$'\n')
  printed=$'\n'${printed%$'\n'}
  [[ $printed == $pattern ]]
}

# Reads the next line of the document into $line; $more is empty behind the last.
next_line() {
  more=yes
  IFS= read -r line || [[ -n $line ]] || more=
}

# Prints the command that begins in $line and its output: as it is shown, if that is right.
render_command() {
  local shown= printed
  continue_command "${line#'$ '}"
  next_line
  while [[ -n $more && $line != '$ '* && $line != '```' ]]; do
    shown+=$line$'\n'
    next_line
  done
  printf '$ %s\n' "$command"
  printed=$(print_output "$command" && printf .)
  printed=${printed%.}
  if is_shown "$shown" "$printed" "$1"; then printf '%s' "$shown"; else printf '%s' "$printed"; fi
}

# Prints the document on standard input with the outputs that its commands have now.
render() {
  local line more command block=
  next_line
  while [[ -n $more ]]; do
    case $block:$line in
      :'```console' | :'```console varies') block=$line ;;
      :*) ;;
      *:'```') block= ;;
      *:'$ '*)
        render_command "$block"
        continue
        ;;
    esac
    printf '%s\n' "$line"
    next_line
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
