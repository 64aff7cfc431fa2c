#!/bin/sh
# deb.sh DIRECTORY - builds the Debian packages, checks them with lintian and leaves them in DIRECTORY.
#
# DIRECTORY/source has what autopkgtest reads: autopkgtest DIRECTORY/*.deb DIRECTORY/source -- null
# The build is made in a copy of the sources, by dpkg-buildpackage, from packaging/debian. Only packages are built, no source
# package: the grammars come from npm and are compiled before (tools/grammars.sh).
set -eu
target=$(realpath -m "$1")
cd "$(dirname "$0")/.."
umask 022
version=$(tools/version.sh)
# Files in the packages have this time.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "deb.sh: $*" >&2
    exit 1
}

command -v dpkg-buildpackage >/dev/null || fail "dpkg-buildpackage is missing; run 'tools/setup.sh packages'"
tools/grammars.sh
tools/sources.sh "$work/chokepoint-$version"
cd "$work/chokepoint-$version"
cp -R packaging/debian debian
named=$(meson introspect --scan-dependencies meson.build)
modules=$(echo "$named" | /usr/bin/python3 -c '
import json, sys
print(*(found["name"] for found in json.load(sys.stdin) if found["required"] and found["name"] != "threads"))')
# Some libraries have no file for pkg-config.
others=$(grep -ho "find_library('[^']*'" meson.build src/meson.build | sed "s/.*('\(.*\)'/-l\1/")
# shellcheck disable=SC2086 # one word per module
libraries=$(tools/pkgconfig-packages.sh $modules $others)
sed -i "s/^Build-Depends: /&$libraries, /" debian/control
cat >debian/changelog <<CHANGELOG
chokepoint ($version) unstable; urgency=medium

  * The changes are in /usr/share/doc/chokepoint/CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG

# Flags of the caller would get into the packages.
env -u CFLAGS -u CPPFLAGS -u LDFLAGS -u CC CCACHE_DISABLE=1 dpkg-buildpackage --build=binary --no-sign >"$work/log" 2>&1 || {
    tail -n 100 "$work/log" >&2
    fail "the packages could not be built"
}
cd "$work"
lintian --allow-root --fail-on error,warning ./*.changes ||
    fail "lintian found something in the packages"
mkdir -p "$target"
rm -rf "$target"/*.deb "$target"/*.changes "$target"/*.buildinfo "$target/source"
cp ./*.deb ./*.changes ./*.buildinfo "$target/"
mkdir -p "$target/source/debian"
cp -R "chokepoint-$version"/debian/control "chokepoint-$version"/debian/tests "chokepoint-$version"/debian/changelog \
    "$target/source/debian/"
ls -l "$target"/*.deb
