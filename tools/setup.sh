#!/bin/sh
# Makes .venv with the pinned dependencies and looks for Java 17+. Usage: tools/setup.sh (make runs it; safe to repeat)
# This part finds a Python; tools/set_up.py does the rest.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

for candidate in ${PYTHON:-} python3.13 python3.12 python3.11 python3 python; do
    if command -v "$candidate" >/dev/null 2>&1 && "$candidate" -c \
        'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
        exec "$candidate" tools/set_up.py
    fi
done
say "no Python 3.11 to 3.13 with venv found."
say "Debian or Ubuntu:  sudo apt-get install python3 python3-venv"
say "macOS:             brew install python@3.12"
say "or name one:       make PYTHON=/path/to/python3.12 test"
exit 1
