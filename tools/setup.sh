#!/bin/sh
# setup.sh build|run|test|full|bench|packages - installs the missing packages for building, the demo, tests, benchmarks, or
# for `make deb` and `make dist`.
#
# Silent and quick if nothing is missing. On Debian and derivatives it installs with apt, as root or by sudo without a
# password; elsewhere it prints the list. It exits with 1 only if something is still missing.
set -eu

# One line per need: the Debian package, and a test for a system where dpkg does not have it.
needs_build='
meson           command meson
ninja-build     command ninja
pkg-config      command pkg-config
gcc             command cc
binutils        command objcopy
libc6-dev       header stdio.h
libcyaml-dev    module libcyaml
libyaml-dev     module yaml-0.1
libjansson-dev  module jansson
libsodium-dev   module libsodium
libseccomp-dev  module libseccomp
libc-ares-dev   module libcares
libbearssl-dev  header bearssl.h
libsqlite3-dev  module sqlite3
npm             command npm
util-linux      command flock
python3         file /usr/bin/python3
python3-dev     file /usr/include/python3.11/Python.h
git             command git
'
needs_test='
libcmocka-dev         module cmocka
python3-pytest        python pytest
python3-hypothesis    python hypothesis
python3-pytest-xdist  python xdist
python3-jsonschema    python jsonschema
python3-uvloop        python uvloop
python3-yaml          python yaml
clang                 command clang
clang-format          command clang-format
clang-tidy            command clang-tidy
libclang-rt-dev       fuzzer clang
strace                command strace
bubblewrap            command bwrap
ca-certificates       file /etc/ssl/certs/ca-certificates.crt
curl                  command curl
gh                    file /usr/bin/gh
openssl               command openssl
nodejs                command node
docker.io             file /usr/sbin/dockerd
procps                command ps
jq                    command jq
ripgrep               command rg
mandoc                command mandoc
shellcheck            command shellcheck
bandit                command bandit
pre-commit            command pre-commit
zsh                   command zsh
flake8                command flake8
pylint                command pylint
black                 command black
mypy                  command mypy
yamllint              command yamllint
codespell             command codespell
ruby                  command ruby
perl                  command perl
php-cli               command php
php-xml               command php
lua5.4                command lua5.4
golang-go             file /usr/bin/go
cargo                 file /usr/bin/cargo
python3-lxml          python lxml
python3-mesonpy       python mesonpy
python3-pip           file /usr/bin/pip
python3-venv          python venv
patchelf              command patchelf
chromium              command chromium
chromium-driver       command chromedriver
qemu-system-x86       command qemu-system-x86_64
gcc-aarch64-linux-gnu command aarch64-linux-gnu-gcc
e2fsprogs             file /sbin/mke2fs
xz-utils              command xz
munge                 file /usr/sbin/munged
slurm-wlm             command sbatch
'
# What `make deb` and `make dist` need; their tests too.
needs_packages='
build-essential  file /usr/share/doc/build-essential/list
debhelper        command dh
dh-python        command dh_python3
dpkg-dev         command dpkg-buildpackage
lintian          command lintian
openssl          command openssl
'
# Tools of the catalogue that only `make test SUITES=full` runs: about 1 GB.
needs_full='
g++                   file /usr/bin/g++
cmake                 file /usr/bin/cmake
golang-go             file /usr/bin/go
cargo                 file /usr/bin/cargo
rustc                 file /usr/bin/rustc
default-jdk-headless  file /usr/bin/javac
maven                 file /usr/bin/mvn
gradle                file /usr/bin/gradle
python3-pip           file /usr/bin/pip
debootstrap           file /usr/sbin/debootstrap
qemu-system-arm       command qemu-system-aarch64
'
# Tools of the policy that the demo uses if they are there. Docker is not listed: a daemon is for the owner of the machine
# to install.
needs_run='
ripgrep  command rg
nodejs   command node
jq       command jq
strace   command strace
'
# What the benchmarks compare the library with; a missing one is skipped.
needs_bench='
bubblewrap  command bwrap
firejail    command firejail
nodejs      command node
'
# The sandboxes that make bench PEERS=1 adds; those of npm need socat. isolate, minijail0 and nsjail are not in every Debian.
needs_peers='
runsc    command runsc
ripgrep  command rg
socat    command socat
'

list_needs()
{
    for set in "$@"; do
        case $set in
        build) echo "$needs_build" ;;
        run) echo "$needs_build$needs_run" ;;
        test) echo "$needs_build$needs_test$needs_packages" ;;
        full) echo "$needs_build$needs_test$needs_packages$needs_full" ;;
        packages) echo "$needs_build$needs_packages" ;;
        bench) echo "$needs_build$needs_bench" ;;
        peers) echo "$needs_peers" ;;
        *)
            echo "setup.sh: unknown set '$set' (known: build, run, test, full, bench, packages, peers)" >&2
            return 2
            ;;
        esac
    done | sed '/^ *$/d' | sort -u
}

# Is it installed without dpkg: from source, or by another package system?
present()
{
    case $1 in
    command) command -v "$2" >/dev/null 2>&1 ;;
    module) pkg-config --exists "$2" 2>/dev/null ;;
    file) [ -e "$2" ] ;;
    header) echo "#include <$2>" | cc -E - >/dev/null 2>&1 ;;
    python) /usr/bin/python3 -c "import $2" 2>/dev/null ;;
    fuzzer) echo 'int LLVMFuzzerTestOneInput(void){return 0;}' | "$2" -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null ;;
    esac
}

installed_packages()
{
    # dpkg-query fails when it does not know one of the names, but still prints the others.
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' || true
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

may_be_root()
{
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

apt_install()
{
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}

apt_update()
{
    as_root apt-get update -q -o DPkg::Lock::Timeout=300
}

install()
{
    echo "setup.sh: installing: $*" >&2
    log=$(mktemp)
    # Package lists may be absent (a fresh image) or too old to name files that still exist; then they are fetched.
    if apt_install "$@" >"$log" 2>&1 || { apt_update && apt_install "$@"; } >>"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    cat "$log" >&2
    rm -f "$log"
    return 1
}

needs=$(list_needs "$@")
packages=$(echo "$needs" | sed 's/ .*//')
installed=' '
if command -v dpkg-query >/dev/null 2>&1; then
    # shellcheck disable=SC2086 # one word per package
    installed=" $(installed_packages $packages | tr '\n' ' ') "
fi

missing=''
while read -r package kind name; do
    case $installed in
    *" $package "*) continue ;;
    esac
    present "$kind" "$name" || missing="$missing $package"
done <<LIST
$needs
LIST

# What npm has: the grammars of the linter, and what the package for Node is built and tested with.
fetch()
{
    "$(dirname "$0")/grammars.sh" || exit 1
    packages=headers
    case " $* " in
    *" test "* | *" full "* | *" bench "*) packages="$packages test" ;;
    esac
    case " $* " in
    *" full "*) packages="$packages runtimes" ;;
    esac
    # shellcheck disable=SC2086 # one word per set
    "$(dirname "$0")/node-packages.sh" $packages || {
        [ "$packages" != headers ] || echo "setup.sh: goes on; the package for Node is not built" >&2
        [ "$packages" = headers ]
    }
}

if [ -z "$missing" ]; then
    fetch "$@"
    exit
fi
if command -v apt-get >/dev/null 2>&1 && may_be_root; then
    # shellcheck disable=SC2086 # one word per package
    install $missing
    fetch "$@"
    exit
fi
{
    echo "setup.sh: these are missing, and this user cannot install them:"
    echo "  apt-get install --no-install-recommends$missing"
    echo "(These are Debian's names; other systems may use different names.)"
} >&2
exit 1
