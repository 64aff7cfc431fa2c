#!/bin/sh
# node-pack.sh BUILD DIRECTORY - makes the package for npm, DIRECTORY/chokepoint-VERSION.tgz, from what BUILD has.
#
# It contains the addon for this machine and, beside it, the shared libraries that it needs, with their licences: nothing
# is compiled or fetched when it is installed.
set -eu
build=$1 target=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR=$work/stage meson install --quiet --no-rebuild --tags node -C "$build"
package=$(find "$work/stage" -path '*/node_modules/chokepoint' -type d)
[ -n "$package" ] || { echo "node-pack.sh: '$build' has no addon; run tools/node-packages.sh headers and build again" >&2; exit 1; }
addon=$(find "$package/prebuilds" -name '*.node')
beside=$(dirname "$addon")
strip --strip-debug "$addon"

# licence FILE... - the Debian package of a library has it.
licence()
{
    mkdir -p "$beside/licences"
    for owner in $(dpkg-query -S "$@" | sed 's/:.*//' | sort -u); do
        cp -L "/usr/share/doc/$owner/copyright" "$beside/licences/$owner.txt"
    done
}

for name in $(readelf -d "$addon" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $name in
    libc.so.* | ld-linux*) continue ;;
    esac
    file=$(realpath "$(ldd "$addon" | sed -n "s/.*$name => \([^ ]*\) .*/\1/p")")
    cp "$file" "$beside/$name"
    licence "$file"
done
licence "$(pkg-config --variable=libdir libcares)/libcares.a"
chmod -R u+w,go+rX "$package"
(cd "$package" && npm pack --silent --pack-destination "$target" >/dev/null)
