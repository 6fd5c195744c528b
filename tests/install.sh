#!/usr/bin/env bash
# Checks what "make install" installs: the program, a page of the manual for each verb, and
# completion, which bash runs.  Usage: tests/install.sh BUILD_FOLDER
source "$(dirname "$0")/make_install.sh" "$1"

lathe=$prefix/bin/lathe
"$lathe" --version >/dev/null || fail "the installed program does not run"

mapfile -t verbs < <("$lathe" help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
((${#verbs[@]} > 20)) || fail "'lathe help' lists ${#verbs[@]} verbs"
for page in lathe "${verbs[@]/#/lathe-}"; do
  file=$prefix/share/man/man1/$page.1
  grep -q '^\.SH SYNOPSIS' "$file" || fail "$file is no page of the manual"
  if command -v man >/dev/null && man --version 2>/dev/null | grep -q '^man '; then
    MANWIDTH=80 man -l "$file" | grep -qi "^$page(1)\|^SYNOPSIS" || fail "man cannot show $file"
  fi
done

for file in zsh/site-functions/_lathe fish/vendor_completions.d/lathe.fish; do
  grep -q optimize "$prefix/share/$file" || fail "$file does not know 'optimize'"
done
# A shell of its own completes a command as it does when somebody presses the key twice.
offered=$(bash --norc -c '
  source "$1"
  COMP_LINE="lathe emit --at l" COMP_POINT=17 COMP_WORDS=(lathe emit --at l) COMP_CWORD=3
  $(complete -p lathe | sed "s/.* -F \([a-z_]*\) .*/\1/") lathe l --at
  echo "${COMPREPLY[*]}"' bash "$prefix/share/bash-completion/completions/lathe")
[[ $offered == "loops llvm" ]] || fail "bash offers '$offered' behind 'lathe emit --at l'"
