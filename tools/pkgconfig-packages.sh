#!/bin/sh
# pkgconfig-packages.sh MODULE|-lNAME... - prints the Debian packages of modules of pkg-config, and of libraries without one:
# sorted, in one line, with commas. That of the C library is left out.
#
# So nobody has to list the packages of our libraries a second time beside meson.build.
set -eu

fail()
{
    echo "pkgconfig-packages.sh: $*" >&2
    exit 1
}

[ $# -gt 0 ] || fail "nothing is named"
packages=''
for module in "$@"; do
    case $module in
    -l*)
        # The compiler prints the bare name of a file that it does not find. Some libraries are an archive alone.
        file=$(cc -print-file-name="lib${module#-l}.so")
        [ -e "$file" ] || file=$(cc -print-file-name="lib${module#-l}.a")
        [ -e "$file" ] || fail "the compiler does not find the library '${module#-l}'"
        file=$(realpath -s "$file")
        ;;
    *)
        directory=$(pkg-config --variable=pcfiledir "$module") || fail "pkg-config does not know '$module'"
        file=$directory/$module.pc
        ;;
    esac
    # "libsodium-dev:amd64: /usr/lib/..."
    owner=$(dpkg-query -S "$file" 2>/dev/null) || fail "'$file' belongs to no package; a Debian package cannot depend on it"
    owner=${owner%%[:,]*}
    [ "$owner" = libc6-dev ] || packages="$packages$owner
"
done
printf %s "$packages" | sort -u | paste -sd,
