#!/bin/sh
# version.sh - prints the version, of which meson.build is the one source.
set -eu
cd "$(dirname "$0")/.."
sed -n "1,/^$/s/^  version: '\([0-9.]*\)',$/\1/p" meson.build
