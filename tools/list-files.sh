#!/bin/sh
# list-files.sh DIRECTORY PATTERN - prints the names of the files that match, one per line, sorted. No match is not an error.
set -eu
cd "$1"
find . -maxdepth 1 -type f -name "$2" | sed 's|^\./||' | LC_ALL=C sort
