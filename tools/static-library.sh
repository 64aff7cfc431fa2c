#!/bin/sh
# static-library.sh INPUT OUTPUT - makes an archive of one relocatable object in which only choke_* is global.
set -eu
input=$1 output=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ld -r --whole-archive "$input" -o "$work/chokepoint.o"
objcopy --wildcard --keep-global-symbol='choke_*' "$work/chokepoint.o"
rm -f "$output"
ar crs "$output" "$work/chokepoint.o"
