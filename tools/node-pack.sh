#!/bin/sh
# node-pack.sh BUILD DIRECTORY [OTHER-BUILD ROOT] - makes the package for npm, DIRECTORY/chokepoint-VERSION.tgz, from what
# BUILD has, and with the addon of a build for another machine, whose libraries are beneath ROOT (tools/cross.py).
#
# It contains the addon for each machine and, beside it, the shared libraries that it needs, with their licences: nothing
# is compiled or fetched when it is installed.
set -eu
build=$1 target=$(realpath "$2") other=${3:-} other_root=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# install_from BUILD
install_from()
{
    DESTDIR=$work/stage meson install --quiet --no-rebuild --tags node -C "$1"
    package=$(find "$work/stage" -path '*/node_modules/chokepoint' -type d)
    [ -n "$package" ] || { echo "node-pack.sh: '$1' has no addon; run tools/node-packages.sh headers and build again" >&2; exit 1; }
}

# licence OWNER... - the Debian package of a library has it.
licence()
{
    mkdir -p "$beside/licences"
    for owner in "$@"; do
        cp -L "$root/usr/share/doc/$owner/copyright" "$beside/licences/$owner.txt"
    done
}

# Names of packages, from those of files: what dpkg installed here, what is unpacked beneath a root there.
owner_of()
{
    if [ -z "$root" ]; then
        dpkg-query -S "$@" | sed 's/:.*//' | sort -u
    else
        for file in "$@"; do
            sed -n "s|^$(basename "$file") ||p" "$root/owners"
        done
    fi
}

# finish TRIPLET - strips the addon of this machine and puts the libraries that it needs beside it.
finish()
{
    strip=$1-strip
    command -v "$strip" >/dev/null || strip='strip'
    "$strip" --strip-debug "$addon"
    for name in $(readelf -d "$addon" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        case $name in
        libc.so.* | ld-linux*) continue ;;
        esac
        file=$(realpath "$root/usr/lib/$1/$name")
        cp "$file" "$beside/$name"
        # shellcheck disable=SC2046 # one word per package
        licence $(owner_of "$file")
    done
    # shellcheck disable=SC2046 # one word per package
    licence $(owner_of "$root/usr/lib/$1/libcares.a" "$root/usr/lib/$1/libbearssl.a")
}

install_from "$build"
[ -z "$other" ] || install_from "$other"
machines=''
for beside in "$package"/prebuilds/*; do
    addon=$(find "$beside" -name '*.node')
    cpu=${beside##*-}
    root=''
    [ "$cpu" = "$(node -p process.arch)" ] || root=$other_root
    case $cpu in
    x64) finish x86_64-linux-gnu ;;
    arm64) finish aarch64-linux-gnu ;;
    esac
    machines="$machines${machines:+, }\"$cpu\""
done
sed -i "s/\"cpu\": .*/\"cpu\": [$machines],/" "$package/package.json"
chmod -R u+w,go+rX "$package"
(cd "$package" && npm pack --silent --pack-destination "$target" >/dev/null)
