#!/bin/sh
# check-install.sh BUILD - installs into a temporary directory, then builds and runs the examples with it.
set -eu
build=$1
cd "$(dirname "$0")/../.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

DESTDIR=$place/stage meson install --quiet --no-rebuild -C "$build"
description=$(find "$place/stage" -name chokepoint.pc)
libraries=$(dirname "$(dirname "$description")")
prefix=$(dirname "$(find "$place/stage" -path '*/include/chokepoint.h' -printf '%h\n')")

# The pkg-config file names the final prefix, not the staging directory.
flags()
{
    PKG_CONFIG_PATH=$(dirname "$description") pkg-config --define-variable=prefix="$prefix" "$@" chokepoint
}

for file in "$prefix/bin/chokepoint" "$libraries/libchokepoint.so"; do
    if readelf -d "$file" | grep -E 'RPATH|RUNPATH'; then
        echo "'$file' has a run path (RPATH or RUNPATH)"
        exit 1
    fi
done
for file in share/man/man1/chokepoint.1 share/bash-completion/completions/chokepoint share/zsh/site-functions/_chokepoint \
    share/chokepoint/policy.schema.json share/chokepoint/audit.schema.json share/chokepoint/gather.schema.json \
    share/chokepoint/run.schema.json; do
    [ -s "$prefix/$file" ] || { echo "'$file' was not installed"; exit 1; }
done
# Every document is installed, and the policies among them find their decision records.
for file in *.md docs/*.md docs/adr/*.md docs/probes/*.md policy/*.yaml policy/catalog/*.yaml policy/profiles/*.yaml examples/*.yaml examples/*.c examples/*.mjs examples/adr/*; do
    cmp "$file" "$prefix/share/doc/chokepoint/$file" || { echo "'$file' was not installed"; exit 1; }
done
for file in policy/default.yaml examples/policy.yaml examples/extends.yaml; do
    "$prefix/bin/chokepoint" policy check "$prefix/share/doc/chokepoint/$file"
done
"$prefix/bin/chokepoint" policy diff default "$prefix/share/doc/chokepoint/policy/default.yaml" | grep -qx 'no change'
"$prefix/bin/chokepoint" doctor --attack
[ "$("$prefix/bin/chokepoint" --version)" = "chokepoint $(flags --modversion)" ]

# The examples run git in this new repository.
git init --quiet "$place/repository"
git -C "$place/repository" -c user.name=test -c user.email=test@localhost commit --quiet --allow-empty -m first

count=0
for source in examples/*.c; do
    name=$(basename "$source" .c)
    # shellcheck disable=SC2046 # one word per flag
    {
        cc -Wall -Wextra -Werror "$source" -o "$place/$name-shared" $(flags --cflags --libs)
        cc -Wall -Wextra -Werror -static "$source" -o "$place/$name-static" $(flags --cflags --libs --static)
    }
    for kind in shared static; do
        echo "$name, $kind:"
        (cd "$place/repository" && LD_LIBRARY_PATH=$libraries "$place/$name-$kind")
        count=$((count + 1))
    done
done
[ "$count" -ge 4 ]

# The package for Node works where it is installed.
modules=$(dirname "$(find "$place/stage" -path '*/node_modules/chokepoint' -type d)")
(cd "$place/repository" && NODE_PATH=$modules node -e "
    require('chokepoint').run(['git', 'log', '-1', '--format=%s'], { timeout: 60000, check: true })
        .then(({ stdout }) => { if (stdout.text !== 'first\n') process.exit(1); })")

# The Python package uses the installed library.
package=$(dirname "$(find "$place/stage" -path '*/dist-packages/chokepoint/__init__.py')")
for file in bindings/python/chokepoint/*.py bindings/python/chokepoint/*.pyi; do
    cmp "$file" "$package/$(basename "$file")" || { echo "'$file' was not installed"; exit 1; }
done
if readelf -d "$package/_choke.abi3.so" | grep -E 'RPATH|RUNPATH'; then
    echo "'$package/_choke.abi3.so' has a run path (RPATH or RUNPATH)"
    exit 1
fi
(cd "$place/repository" && LD_LIBRARY_PATH=$libraries PYTHONPATH=$(dirname "$package") /usr/bin/python3 -c \
    'import chokepoint; print(chokepoint.run(["git", "log", "-1", "--format=%H"], root=".", timeout=5).stdout)')

# The build directory can be used without an installation, by its own description.
uninstalled=$(cd "$build" && pwd)/meson-uninstalled
# shellcheck disable=SC2046 # one word per flag
cc -Wall -Wextra -Werror examples/run-one.c -o "$place/run-one-uninstalled" \
    $(PKG_CONFIG_PATH=$uninstalled pkg-config --cflags --libs chokepoint)
(cd "$place/repository" && LD_LIBRARY_PATH=$(PKG_CONFIG_PATH=$uninstalled pkg-config --variable=prefix chokepoint)/src \
    "$place/run-one-uninstalled")
