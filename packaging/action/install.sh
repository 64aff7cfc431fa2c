#!/usr/bin/env bash
# install.sh - the first step of the action: fetches a release, checks its signature, and puts the command on PATH.
#
# Nothing of the release is read before its signature and its digest are right. There is no way around the check.
set -euo pipefail

fail()
{
    echo "::error title=chokepoint::$*"
    exit 1
}

version=$CHOKEPOINT_VERSION
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the version '${version//[^[:alnum:].-]/?}' is not of the form 1.2.3"
[ "$(uname -s)" = Linux ] || fail "the command runs on Linux; docs/macos.md says what to do on this system"
name=chokepoint-$version-linux-$(uname -m)
releases=${CHOKEPOINT_RELEASES:-$CHOKEPOINT_SERVER/$CHOKEPOINT_REPOSITORY/releases/download}

work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/chokepoint.XXXXXX")
if [ -n "$CHOKEPOINT_PUBLIC_KEY" ]; then
    printf '%s\n' "$CHOKEPOINT_PUBLIC_KEY" >"$work/key.pem"
elif [ -f "$CHOKEPOINT_ACTION/packaging/release-key.pem" ]; then
    cp "$CHOKEPOINT_ACTION/packaging/release-key.pem" "$work/key.pem"
else
    fail "there is no key to check the release with; give it as 'public-key'"
fi

# A release is less than 32 MB: more is not one.
fetch()
{
    curl --fail --silent --show-error --location --proto '=https,http' --retry 3 --max-time 300 --max-filesize 33554432 \
        --output "$work/$1" "$releases/v$version/$1" || fail "cannot fetch '$1' of release $version from '$releases'"
}

fetch SHA256SUMS
fetch SHA256SUMS.sig
openssl pkeyutl -verify -rawin -pubin -inkey "$work/key.pem" -in "$work/SHA256SUMS" -sigfile "$work/SHA256SUMS.sig" >/dev/null 2>&1 ||
    fail "the signature of release $version is not by the expected key; nothing of it is used"
fetch "$name.tar.gz"
# An older release is signed too, but lists other names.
wanted=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$work/SHA256SUMS")
[ -n "$wanted" ] || fail "the sums that were signed do not list '$name.tar.gz'"
[ "$(sha256sum "$work/$name.tar.gz" | cut -d ' ' -f 1)" = "$wanted" ] || fail "'$name.tar.gz' is not what was signed; nothing of it is used"
tar --extract --gzip --no-same-owner --file "$work/$name.tar.gz" --directory "$work"
"$work/$name/bin/chokepoint" --version
echo "$work/$name/bin" >>"$GITHUB_PATH"
echo "command=$work/$name/bin/chokepoint" >>"$GITHUB_OUTPUT"
