#!/usr/bin/env bash
# Runs a test with the package that tests/python/install.py installed; skipped if it did not.
# Usage: tests/python/installed.sh FOLDER TEST [ARGUMENT...]
set -euo pipefail

python=$1/venv/bin/python
if [[ ! -x $python ]]; then
  echo "skipped: the package is not installed; python.install says why"
  exit 77
fi
# Nothing of the repository is in reach: what runs is the wheel.
cd /
exec "$python" "${@:2}"
