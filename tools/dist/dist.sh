#!/bin/sh
# dist.sh DIRECTORY [KEY] - builds the release in a copy of the sources and leaves it in DIRECTORY, signed with KEY if given.
#
# The same commit and the same versions of the tools give the same bytes, whoever builds, where and when
# (docs/adr/0124). pack.py says what is made.
set -eu
target=$(realpath -m "$1") key=${2:-}
[ -z "$key" ] || key=$(realpath "$key")
cd "$(dirname "$0")/../.."
umask 022
# Flags and settings of the caller would get into the programs.
unset CFLAGS CPPFLAGS LDFLAGS CC CC_LD AR LD PKG_CONFIG_PATH PYTHONPATH LIBRARY_PATH CPATH C_INCLUDE_PATH
export LC_ALL=C TZ=UTC CCACHE_DISABLE=1
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
fi
export SOURCE_DATE_EPOCH
if [ -n "$(git status --porcelain)" ]; then
    echo "dist.sh: the tree differs from the last commit; for a release, build from a clean clone" >&2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/sources.sh "$work/sources"
cd "$work/sources"
tools/grammars.sh
meson setup build -Dcommand=static -Dnode=disabled -Dpython=disabled -Ddebug=false \
    -Dc_args="-ffile-prefix-map=$work/sources=." >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
# Not the libraries and bindings for customers: those are in packages.
ninja -C build chokepoint chokepoint-attack docs/chokepoint docs/_chokepoint >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
tools/dist/pack.py build "$work/release"
[ -z "$key" ] || tools/dist/sign.sh "$key" "$work/release"
mkdir -p "$target"
rm -f "$target"/chokepoint-*.tar.gz "$target"/chokepoint-*.spdx.json "$target"/SHA256SUMS "$target"/SHA256SUMS.sig
cp "$work"/release/* "$target/"
[ -n "$key" ] || echo "not signed: make dist KEY=FILE signs SHA256SUMS with an Ed25519 key"
