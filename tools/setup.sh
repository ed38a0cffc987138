#!/bin/sh
# Makes .venv with the pinned dependencies and sees to it that Java 17+ is there for Spark.
# Usage: tools/setup.sh            (make runs it; safe to run again)
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

find_python() {
    for candidate in ${PYTHON:-} python3.13 python3.12 python3.11 python3 python; do
        if command -v "$candidate" >/dev/null 2>&1 && "$candidate" -c \
            'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    say "no Python 3.11 to 3.13 with venv found."
    say "Debian or Ubuntu:  sudo apt-get install python3 python3-venv"
    say "macOS:             brew install python@3.12"
    say "or name one:       make PYTHON=/path/to/python3.12 test"
    exit 1
}

find_java() { .venv/bin/python -m analysis.java 2>/dev/null; }

install_java() {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "no Java 17 or newer found: installing one with apt-get …"
        apt-get update -qq >&2
        apt-get install -y -qq openjdk-17-jre-headless >&2 || apt-get install -y -qq default-jre-headless >&2
    fi
    if ! find_java >/dev/null; then
        say "Spark needs Java 17 or newer, and none was found."
        say "Debian or Ubuntu:  sudo apt-get install openjdk-17-jre-headless"
        say "Fedora or RHEL:    sudo dnf install java-17-openjdk-headless"
        say "macOS:             brew install openjdk@17"
        say "or point JAVA_HOME at one, then run make again."
        exit 1
    fi
}

stamp=.venv/ready
if [ ! -f "$stamp" ] || [ pyproject.toml -nt "$stamp" ] || [ constraints.txt -nt "$stamp" ]; then
    if [ ! -x .venv/bin/python ]; then
        python=$(find_python)
        say "making .venv with $python"
        "$python" -m venv .venv
    fi
    say "installing the pinned dependencies (about two minutes the first time) …"
    .venv/bin/python -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt \
        "pip>=25.1" hatchling editables
    .venv/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-build-isolation \
        --constraint constraints.txt --editable '.[spark]' --group dev
    touch "$stamp"
fi
find_java >/dev/null || install_java
say "ready: $(.venv/bin/python --version), Java at $(find_java)"
