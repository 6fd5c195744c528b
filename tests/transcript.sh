# Shared by golden.sh and lessons.sh (sourced): runs the commands of a transcript.
# A transcript is "$ command" lines, each followed by what the command prints, standard error
# included, and by "exit N" when it fails. A command ending in \ goes on in the next line.

# Puts the program "$1" first on the PATH, and its output into a form that is the same everywhere.
use_program() {
  [[ -x $1 ]] || { echo "$1: is not a program; build it first" >&2; exit 2; }
  PATH=$(cd "$(dirname "$1")" && pwd):$PATH
  export PATH LC_ALL=C NO_COLOR=1
  # What was tuned on this machine is left aside.
  export LATHE_TUNED=
  unset LATHE_SEED LATHE_CASES
  # There a leak check takes 4 s a process (gcc 12); the test programs still have it.
  [[ $(uname -m) != aarch64 ]] || export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0
}

# Reads the rest of command "$1" from standard input while it ends in \; the result is in $command.
continue_command() {
  local more
  command=$1
  while [[ $command == *\\ ]] && IFS= read -r more; do command+=$'\n'$more; done
}

# Prints "$ " and command "$1", then what it prints when run in the current folder.
print_run() {
  printf '$ %s\n' "$1"
  print_output "$1"
}

# Prints what command "$1" prints when run in the current folder, and "exit N" when it fails.
print_output() {
  local status=0 output
  output=$(bash -c "$1" 2>&1 </dev/null; printf '|%d' $?)
  status=${output##*|}
  output=${output%|*}
  [[ -z $output || $output == *$'\n' ]] || output+=$'\n'
  ((status == 0)) || output+="exit $status"$'\n'
  printf '%s' "$output"
}
