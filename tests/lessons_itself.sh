#!/usr/bin/env bash
# Checks lessons.sh itself: what it lets pass in a document, what it does not, what it rewrites.
# Usage: tests/lessons_itself.sh
set -euo pipefail
lessons=$(dirname "$0")/lessons.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A program that prints the words it is given, one a line; "fails" makes its status 3.
cat >"$scratch/lathe" <<'END'
#!/usr/bin/env bash
printf '%s\n' "$@"
[[ $1 != fails ]] || exit 3
END
chmod +x "$scratch/lathe"

failures=0
# Checks that a block which opens with "$2" and holds "$3" passes ("$1" is 0) or fails (1).
expect() {
  local status=0
  printf '%s\n' text "$2" "$3" '```' text >"$scratch/lesson.md"
  "$lessons" "$scratch/lathe" "$scratch/lesson.md" >"$scratch/said" 2>&1 || status=$?
  ((status == $1)) && return
  printf 'status %d, not %d, of this:\n%s\n' "$status" "$1" "$(cat "$scratch/lesson.md" "$scratch/said")"
  failures=$((failures + 1))
}
# Checks that --update makes "$3" of a block that opens with "$1" and holds "$2".
expect_update() {
  printf '%s\n' "$1" "$2" '```' >"$scratch/lesson.md"
  "$lessons" --update "$scratch/lathe" "$scratch/lesson.md"
  diff "$scratch/lesson.md" <(printf '%s\n' "$1" "$3" '```') || failures=$((failures + 1))
}

exact='```console'
varies='```console varies'
expect 0 "$exact" $'$ lathe one two\none\ntwo'
expect 1 "$exact" $'$ lathe one two\none\nthree'
expect 1 "$exact" $'$ lathe one two\none'
expect 1 "$exact" $'$ lathe one\none\ntwo'
expect 0 "$exact" $'$ lathe a\na\n$ echo b\nb'
expect 1 "$exact" $'$ echo b\nc'
expect 0 "$exact" $'$ lathe a \\\n  b\na\nb'
expect 0 "$exact" $'$ true\n$ lathe a\na'
expect 0 "$exact" $'$ lathe fails\nfails\nexit 3'
expect 1 "$exact" $'$ lathe fails\nfails'
expect 0 '```json' $'$ lathe a\nb'

# Numbers vary only where the block says so, and nothing else does.
expect 1 "$exact" $'$ lathe "3.5 ms"\n4.5 ms'
expect 0 "$varies" $'$ lathe "3.5 ms (-1.25 to +1e-05, 1,234)"\n12 ms (0.5 to 0.7, 9)'
expect 0 "$varies" $'$ lathe "a    7  b"\na 100  b'
expect 1 "$varies" $'$ lathe "3.5 ms"\n3.5 s'
expect 1 "$varies" $'$ lathe "3.5 ms"\nms'

# Dots stand for whole lines.
expect 0 "$exact" $'$ lathe a b c d\na\n...\nd'
expect 0 "$exact" $'$ lathe a b\na\n...\nb\n...'
expect 0 "$exact" $'$ lathe a b\n...\nb'
expect 1 "$exact" $'$ lathe a b c d\na\n...\nc'
expect 1 "$exact" $'$ lathe ab c\na\n...\nc'
expect 1 "$exact" $'$ lathe "* [a] ?(b)"\n* [b] ?(b)'
expect 0 "$exact" $'$ lathe "* [a] ?(b)" c\n* [a] ?(b)\n...'
expect 0 "$varies" $'$ lathe "1 a" b "2 c"\n8 a\n...\n9 c'

expect_update "$varies" $'$ lathe "1 a"\n2 a\n$ lathe b\nc' $'$ lathe "1 a"\n2 a\n$ lathe b\nb'
expect_update "$exact" $'$ lathe a b\n...\nb\n$ lathe "1 a"\n2 a' $'$ lathe a b\n...\nb\n$ lathe "1 a"\n1 a'

((failures == 0))
