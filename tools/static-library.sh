#!/bin/sh
# static-library.sh LD OBJCOPY AR INPUT OUTPUT - makes an archive of one relocatable object in which only choke_* is global.
set -eu
ld=$1 objcopy=$2 ar=$3 input=$4 output=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ld" -r --whole-archive "$input" -o "$work/chokepoint.o"
"$objcopy" --wildcard --keep-global-symbol='choke_*' "$work/chokepoint.o"
rm -f "$output"
"$ar" crs "$output" "$work/chokepoint.o"
