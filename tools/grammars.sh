#!/bin/sh
# grammars.sh [TRIPLET ROOT] - fetch the parser and the grammars of `chokepoint lint` and compile them once, for every
# build directory; with a triplet such as aarch64-linux-gnu by the cross compiler of this name, with the headers in ROOT.
#
# Leaves third_party/grammars/grammars.o (or grammars-TRIPLET.o), its header and the licences, built from exactly what
# tools/grammars.lock names.
# The same sources and compiler give the same bytes, wherever they are compiled. Nothing is fetched or compiled when it is
# there already. Two at once wait for each other; one that is killed leaves nothing that counts, for the object is put in
# place by a rename and its stamp comes after it.
set -eu
LC_ALL=C
export LC_ALL # it sorts the files that are linked
cd "$(dirname "$0")/.."
lock=tools/grammars.lock
place=third_party/grammars
triplet=${1:-}
cc=${triplet:+$triplet-gcc --sysroot=$2}
cc=${cc:-cc}
object=$place/grammars${triplet:+-$triplet}.o
mark=$place/stamp${triplet:+-$triplet}
# Scanners keep their assertions: a grammar that broke its own promises must not go on with our memory.
flags='-std=c11 -O2 -fPIC -fvisibility=hidden -DTREE_SITTER_HIDE_SYMBOLS -DTREE_SITTER_HIDDEN_SYMBOLS'
flags="$flags -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -w"
[ "$(uname -m)$triplet" != x86_64 ] || flags="$flags -fcf-protection=full"

fail()
{
    echo "grammars.sh: $*" >&2
    exit 1
}

up_to_date()
{
    [ -f "$object" ] && [ "$(cat "$mark" 2>/dev/null)" = "$stamp" ]
}

integrity_of()
{
    /usr/bin/python3 - "$1" <<'PROGRAM'
import base64, hashlib, sys
with open(sys.argv[1], "rb") as archive:
    print("sha512-" + base64.b64encode(hashlib.sha512(archive.read()).digest()).decode())
PROGRAM
}

# Checks what was fetched before anything looks into it.
fetch()
{
    package=$1 version=$2 integrity=$3
    archive=$work/$package-$version.tgz
    (cd "$work" && npm pack --silent "$package@$version" </dev/null >/dev/null 2>npm-log) || {
        cat "$work/npm-log" >&2
        fail "cannot fetch '$package' $version with npm"
    }
    [ "$(integrity_of "$archive")" = "$integrity" ] ||
        fail "'$package' $version is not what $lock records; nothing of it is used"
    mkdir "$work/$package"
    tar -xzf "$archive" -C "$work/$package" --strip-components=1 --no-same-owner
    cp "$work/$package/LICENSE" "$work/licences/$package.txt"
}

# One line per file to compile: where it is, which of the two it is, and what to call it.
list()
{
    for part in parser scanner; do
        [ ! -f "$1/$part.c" ] || echo "$1 $part $2"
    done
}

build()
{
    work=$(mktemp -d "$place/work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/licences"
    while read -r package version integrity; do
        case $package in
        '' | '#'*) continue ;;
        esac
        fetch "$package" "$version" "$integrity"
        for source_dir in "$work/$package/src" "$work/$package"/*/src; do
            [ ! -f "$source_dir/parser.c" ] || list "$source_dir" "$(echo "${source_dir#"$work"/}" | tr / -)"
        done
    done <$lock >"$work/list"
    # shellcheck disable=SC2016 # the inner shell's own variables
    xargs -P "$(nproc)" -L 1 sh -c '$0 "-ffile-prefix-map=$4=." -I "$1" -c "$1/$2.c" -o "$4/$3-$2.o"' "$cc $flags" <<LIST
$(sed "s|\$| $work|" "$work/list")
LIST
    core=$work/tree-sitter/vendor/tree-sitter/lib
    # shellcheck disable=SC2086 # one word per flag
    $cc $flags "-ffile-prefix-map=$work=." -D_GNU_SOURCE -I "$core/include" -I "$core/src" -c "$core/src/lib.c" -o "$work/core.o"
    "${triplet:+$triplet-}ld" -r -o "$work/grammars.o" "$work/core.o" "$work"/*-parser.o "$work"/*-scanner.o
    cp "$core/src/unicode/LICENSE" "$work/licences/tree-sitter-unicode.txt"
    rm -rf $place/licences
    mv "$work/licences" $place/licences
    mkdir -p $place/include/tree_sitter
    mv -f "$core/include/tree_sitter/api.h" $place/include/tree_sitter/api.h
    mv -f "$work/grammars.o" "$object"
    echo "$stamp" >"$mark"
}

stamp=$(cat $lock tools/grammars.sh | sha256sum)
up_to_date && exit 0
mkdir -p $place
exec 9>$place/lock
flock 9
up_to_date && exit 0
echo "grammars.sh: fetching and compiling the grammars, once" >&2
rm -rf $place/work.*
build
