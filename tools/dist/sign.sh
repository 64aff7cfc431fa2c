#!/bin/sh
# sign.sh KEY DIRECTORY - signs DIRECTORY/SHA256SUMS with an Ed25519 key in PEM, as `openssl genpkey -algorithm ed25519` makes it.
#
# The signature is DIRECTORY/SHA256SUMS.sig, 64 bytes. docs/install.md says how it is checked.
set -eu
key=$1 directory=$2

fail()
{
    echo "sign.sh: $*" >&2
    exit 1
}

[ -f "$key" ] || fail "cannot find the key '$key'"
# Whoever else can read the key can sign in our name.
case $(stat -L -c %a "$key") in
?00) ;;
*) fail "others can read the key '$key'; chmod 600 it, or make a new one if they may have" ;;
esac
public=$(mktemp)
trap 'rm -f "$public" "$directory/SHA256SUMS.sig.new"' EXIT
openssl pkey -in "$key" -pubout -out "$public" || fail "cannot read a private key in '$key'"
openssl pkey -pubin -in "$public" -noout -text | grep -q '^ED25519 ' || fail "the key '$key' is not an Ed25519 key"
openssl pkeyutl -sign -rawin -inkey "$key" -in "$directory/SHA256SUMS" -out "$directory/SHA256SUMS.sig.new"
openssl pkeyutl -verify -rawin -pubin -inkey "$public" -in "$directory/SHA256SUMS" -sigfile "$directory/SHA256SUMS.sig.new" >/dev/null ||
    fail "the signature that was just made is wrong"
mv "$directory/SHA256SUMS.sig.new" "$directory/SHA256SUMS.sig"
chmod 644 "$directory/SHA256SUMS.sig"
echo "signed by $(openssl pkey -pubin -in "$public" -outform DER | sha256sum | cut -c1-64) (SHA-256 of the public key)"
