#!/bin/sh
# sources.sh DIRECTORY - copies the sources of this tree, as git lists them, and the compiled grammars to a new directory.
#
# What a build leaves in the tree is not copied. Modes do not depend on the umask.
set -eu
target=$(realpath -m "$1")
cd "$(dirname "$0")/.."
umask 022
[ ! -e "$target" ] || { echo "sources.sh: '$target' exists" >&2; exit 1; }
list=$(mktemp)
trap 'rm -f "$list"' EXIT
git ls-files -z --cached --others --exclude-standard >"$list" || {
    echo "sources.sh: git does not list this tree; it must be a clone, not an archive" >&2
    exit 1
}
mkdir -p "$target"
# Of a file that was removed and is still in the index there is nothing to copy.
tar --create --null --verbatim-files-from --files-from="$list" --ignore-failed-read --warning=no-failed-read \
    --mode=u+rwX,go+rX,go-w --owner=0 --group=0 | tar --extract --no-same-owner --directory "$target"
if [ -f third_party/grammars/stamp ]; then
    mkdir -p "$target/third_party"
    cp -R third_party/grammars "$target/third_party/"
fi
