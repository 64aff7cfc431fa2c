#!/bin/sh
# list-files.sh DIRECTORY PATTERN - the names of the files that match, one a line, sorted; none is no error.
set -eu
cd "$1"
find . -maxdepth 1 -type f -name "$2" | sed 's|^\./||' | LC_ALL=C sort
