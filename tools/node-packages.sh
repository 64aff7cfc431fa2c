#!/bin/sh
# node-packages.sh SET... - fetches packages for bindings/node with npm, once: headers, test or runtimes.
#
# Leaves third_party/node/SET/node_modules with exactly what tools/node/SET/package-lock.json records. No script of
# theirs runs. Two at once wait for each other; one that is killed leaves nothing that counts. Exits with 1 if they cannot
# be fetched.
set -eu
cd "$(dirname "$0")/.."

fetch()
{
    work=$(mktemp -d "third_party/node/$1.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    echo "node-packages.sh: fetching $1 with npm, once" >&2
    cp "tools/node/$1/package.json" "tools/node/$1/package-lock.json" "$work"
    (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=3 </dev/null >npm-log 2>&1) || {
        grep -i -m 3 '^npm err' "$work/npm-log" >&2
        echo "node-packages.sh: npm cannot fetch '$1'" >&2
        exit 1
    }
    echo "$stamp" >"$work/stamp"
    chmod 755 "$work"
    rm -rf "third_party/node/$1"
    mv "$work" "third_party/node/$1"
    trap - EXIT
}

mkdir -p third_party/node
exec 9>third_party/node/lock
flock 9
for set in "$@"; do
    stamp=$(sha256sum <"tools/node/$set/package-lock.json")
    [ "$(cat "third_party/node/$set/stamp" 2>/dev/null)" = "$stamp" ] || fetch "$set"
done
