#!/bin/sh
# gather-tools.sh DIRECTORY - tools of probes that come from npm, for a search path: DIRECTORY/bin.
#
# Exactly what tools/gather-tools/package-lock.json records, and nothing of theirs runs on installation. They are fetched
# once and kept as an archive: a tool inside the repository that is looked at is never run, and what lies in one is
# looked at. Exits 1 where they cannot be fetched.
set -eu
place=$(realpath "$1")
cd "$(dirname "$0")/.."
recipe=tools/gather-tools
kept=third_party/gather-tools

up_to_date()
{
    [ -f $kept/modules.tar ] && [ "$(cat $kept/stamp 2>/dev/null)" = "$stamp" ]
}

fetch()
{
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    echo "gather-tools.sh: fetching ast-grep and scip-typescript with npm, once" >&2
    cp $recipe/package.json $recipe/package-lock.json "$work"
    (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 </dev/null >npm-log 2>&1) || {
        grep -i -m 3 '^npm err' "$work/npm-log" >&2
        echo "gather-tools.sh: npm cannot fetch them" >&2
        exit 1
    }
    tar -C "$work" -cf $kept/modules.new node_modules
    mv -f $kept/modules.new $kept/modules.tar
    echo "$stamp" >$kept/stamp
}

# link NAME PATTERN - a name in bin for a program of a package; not all machines have one of each.
link()
{
    for program in "$place"/node_modules/$2; do
        [ ! -f "$program" ] || {
            chmod 755 "$program"
            ln -sf "$program" "$place/bin/$1"
        }
    done
}

stamp=$(cat $recipe/package-lock.json tools/gather-tools.sh | sha256sum)
mkdir -p $kept "$place/bin"
exec 9>$kept/lock
flock 9
up_to_date || fetch
tar -C "$place" --no-same-owner -xf $kept/modules.tar
chmod -R go-w "$place/node_modules"
link ast-grep '@ast-grep/cli-*/ast-grep'
link scip-typescript '@sourcegraph/scip-typescript/dist/src/main.js'
