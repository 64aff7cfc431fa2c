"""Promise: Tools in a hostile repository.
Attacker: who calls the compilers and build tools of the catalogue, and the repository that they build. Means: options that
name a program, a plug-in, a linker or a file with more options; a Makefile, a build script, a test that writes outside or
reads a secret.

Expected: the ordinary call does its work in every jail. The options are refused before anything runs. What the repository
runs stays in the jail.
"""
import pytest

import catalog
from catalog import Case

C = '#include <stdio.h>\nint main(void) { puts("it runs"); return 0; }\n'
CXX = '#include <iostream>\nint main() { std::cout << "it runs" << std::endl; }\n'
MAKEFILE = "check: made\n\t./made\nmade: made.c\n\tcc -Wall -o made made.c\n"
CMAKE = "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(made made.c)\n"
GO = {"go.mod": "module example.org/p\n\ngo 1.18\n", "p.go": "package p\n\nfunc Add(a, b int) int { return a + b }\n",
      "p_test.go": """package p

import (
\t"net"
\t"testing"
)

func TestAdd(t *testing.T) {
\tl, err := net.Listen("tcp", "127.0.0.1:0")
\tif err != nil {
\t\tt.Fatal(err)
\t}
\tl.Close()
\tif Add(1, 2) != 3 {
\t\tt.Fatal("wrong")
\t}
}
"""}
CARGO = {"Cargo.toml": '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2018"\n[dependencies]\nsum = { path = "sum" }\n',
         "build.rs": 'fn main() { println!("cargo:rustc-cfg=built"); }\n',
         "src/lib.rs": "#[cfg(built)]\npub fn add() -> i32 { sum::three!() }\n#[test]\nfn adds() { assert_eq!(add(), 3); }\n",
         "sum/Cargo.toml": '[package]\nname = "sum"\nversion = "0.1.0"\nedition = "2018"\n[lib]\nproc-macro = true\n',
         "sum/src/lib.rs": "use proc_macro::TokenStream;\n#[proc_macro]\n"
                           'pub fn three(_: TokenStream) -> TokenStream { "1 + 2".parse().unwrap() }\n'}


# What the three compilers refuse. The names are theirs: {0}.
COMPILER = ("{0} -wrapper ./x,y -c made.c", "{0} -fplugin=./x.so -c made.c", "{0} -specs=own made.c", "{0} --specs=own made.c",
            "{0} -B. -c made.c", "{0} -Bown/ made.c", "{0} -Wl,-plugin,./x.so made.c", "{0} -Wl,@own made.c", "{0} -Wa,@own made.c",
            "{0} -Wp,-o,x made.c", "{0} -Xlinker -plugin made.c", "{0} -Xclang -load made.c", "{0} -mllvm -load made.c",
            "{0} -cc1 made.c", "{0} -fuse-ld=./x made.c", "{0} -o /etc/x made.c", "{0} -o ../x made.c", "{0} @own",
            "{0} -include /etc/passwd -c made.c", "{0} -I/etc -c made.c", "{0} -I ../.. -c made.c", "{0} -c /etc/passwd",
            "{0} -x c /etc/passwd -E", "{0} -dumpdir /tmp/x made.c", "{0} -T own made.c", "{0} -fprofile-use=/etc/x made.c",
            "{0} -working-directory=/etc made.c", "{0} --config=own made.c", "{0} -- -wrapper", "{0} -imultilib x made.c")


def compiler(name, argv, files, **more):
    reads = ("int main(void) { return 0; }\n__asm__(\".incbin \\\"SECRET\\\"\");\n#include \"SECRET\"\n")
    return Case(argv, files, refused=tuple(text.format(name) for text in COMPILER),
                attacks={"reads a file outside": (f"{name} -x c -E evil.c", {"evil.c": reads}),
                         "options from a file": (f"{name} @own -c evil.c",
                                                 {"@own": "", "own": "-o CANARY", "evil.c": "int x;\n"})}, **more)


TABLE = {
    "make": Case("make check", {"Makefile": MAKEFILE, "made.c": C}, "it runs", sample=True,
                 then=("make -j2 -B", "make -n check", "make -C . -f Makefile -s check"), refused=(
        "make --eval=x", "make --eval 'x:;id'", "make -E x", "make SHELL=./x", "make CC=./x check", "make -f /etc/x", "make -C /",
        "make -C ..", "make -I /etc", "make --include-dir=/etc", "make -e", "make --environment-overrides", "make -l", "make ../x"),
        attacks={"writes outside": ("make", {"Makefile": "x:\n\techo > CANARY\n"}),
                 "reads a file outside": ("make", {"Makefile": "x:\n\tcat SECRET\n"}),
                 "starts another program": ("make", {"Makefile": "x:\n\tperl -e 'print(\"the-secret\", \"-of-the-host\")'\n"})}),
    "cmake": Case("cmake -S . -B build", {"CMakeLists.txt": CMAKE, "made.c": C}, "Build files have been written",
                  then=("cmake --build build -j 2 --verbose", "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -G 'Unix Makefiles'",
                        "cmake --build build --target clean"), refused=(
        "cmake -P own.cmake", "cmake -E cat /etc/passwd", "cmake -E env id", "cmake -E rm -rf x", "cmake --open .", "cmake -S /etc",
        "cmake -B /tmp/x", "cmake -C own.cmake", "cmake --graphviz=x .", "cmake --build /etc", "cmake --install . --prefix=/usr",
        "cmake -G Eclipse", "cmake --system-information", "cmake --build . -- SHELL=./x"),
        attacks={"writes outside": ("cmake .", {"CMakeLists.txt": "project(p NONE)\nfile(WRITE CANARY x)\n"}),
                 "reads a file outside": ("cmake .", {"CMakeLists.txt":
                                                      "project(p NONE)\nfile(READ SECRET s)\nmessage(STATUS ${s})\n"}),
                 "runs a command": ("cmake .", {"CMakeLists.txt":
                                                "project(p NONE)\nexecute_process(COMMAND perl -e \"open F, '>CANARY'\")\n"})}),
    "gcc": compiler("gcc", "gcc -Wall -Wextra -Werror -std=c11 -O2 -g -DX=1 -I. -MMD -fPIE -pie -pthread -o made made.c -lm",
                    {"made.c": C}, sample=True, then=("gcc -c -O2 -flto -o made.o made.c", "gcc -flto -o made made.o",
                                                      "gcc -E -include made.c made.c", "gcc -shared -fPIC -o made.so made.c")),
    "g++": compiler("g++", "g++ -std=c++17 -Wall -Wl,--as-needed -fsanitize=undefined -o made made.cc", {"made.cc": CXX, "made.c": C}),
    "clang": compiler("clang", "clang -Wall -Wno-unused -O1 -c -o made.o made.c", {"made.c": C},
                      then=("clang -o made made.o", "clang -fsyntax-only -Weverything made.c", "clang --analyze made.c")),
    "go": Case("go test ./...", {**GO, "cmd/x/main.go": 'package main\n\nfunc main() { println("it runs") }\n'}, "ok",
               then=("go vet ./...", "go build -o made ./cmd/x", "go run ./cmd/x one", "go mod vendor"), refused=(
        "go build -toolexec ./x", "go build -toolexec=./x", "go test -exec ./x", "go vet -vettool=./x", "go build -overlay=x.json",
        "go build -modfile=/etc/x", "go build -o /tmp/x", "go build '-ldflags=-extld=./x'", "go build -ldflags -linkmode=external",
        "go build -gcflags=-x", "go build -pkgdir /tmp", "go build -compiler gccgo", "go generate", "go env -w GOPROXY=x",
        "go get example.org/x", "go install example.org/x", "go tool compile", "go build -C /", "go build --toolexec=./x",
        "go test -outputdir /tmp", "go test -args x", "go mod download", "go mod edit", "go clean -cache", "go bug", "go build -- -toolexec=./x"),
        attacks={"a test writes outside": ("go test", {**GO, "p_test.go": """package p

import (
\t"os"
\t"testing"
)

func TestOut(t *testing.T) { os.WriteFile("CANARY", nil, 0644) }
"""})}),
    "cargo": Case("cargo test --offline", {**CARGO, "src/main.rs": "fn main() { println!(\"{}\", p::add()); }\n"}, "1 passed",
                  then=("cargo check", "cargo build --release -j 2", "cargo run --release -- one", "cargo test adds -- --nocapture",
                        "cargo metadata --no-deps --format-version=1", "cargo clean"), refused=(
        "cargo build --config target.x.runner='./x'", "cargo build -Z unstable-options", "cargo +nightly build",
        "cargo install x", "cargo publish", "cargo login", "cargo build --target-dir=/tmp/x", "cargo build --manifest-path=/etc/x",
        "cargo --config x build", "cargo rustc -- -Clinker=./x", "cargo -C / build", "cargo new x", "cargo add x", "cargo x"),
        attacks={"a build script writes outside": ("cargo check --offline", {"build.rs":
                 'fn main() { std::fs::write("CANARY", "x").unwrap(); }\n'}),
                 "a build script reads a file outside": ("cargo test --offline", {"build.rs":
                 'fn main() { panic!("{}", std::fs::read_to_string("SECRET").unwrap_or("nothing".to_string())); }\n'})}),
    "rustc": Case("rustc --edition=2018 -O -C opt-level=2 -o made made.rs", {"made.rs": "fn main() { println!(\"x\"); }\n"}, refused=(
        "rustc -C linker=./x made.rs", "rustc -Clinker=./x made.rs", "rustc --codegen linker=./x made.rs", "rustc -Z x made.rs",
        "rustc -C link-arg=-wrapper made.rs", "rustc -C link-args=@own made.rs", "rustc -o /tmp/x made.rs", "rustc @own",
        "rustc --out-dir=/tmp made.rs", "rustc --sysroot=. made.rs", "rustc -C codegen-backend=x made.rs",
        "rustc -C save-temps made.rs", "rustc --emit=link=/tmp/x made.rs", "rustc --crate-type=proc-macro made.rs",
        "rustc -L /etc made.rs", "rustc /etc/passwd", "rustc -C llvm-args=-load=x made.rs"),
        attacks={"reads a file outside": ("rustc evil.rs", {"evil.rs":
                 'fn main() { let _: () = include_str!("SECRET"); compile_error!(include_str!("SECRET")); }\n'})}),
}


def test_table_has_every_entry():
    assert set(TABLE) == set(catalog.family("build"))


@pytest.mark.parametrize("name", catalog.chosen(TABLE))
def test_ordinary_work(cell, name):
    catalog.check_work(cell, name, TABLE[name])


@pytest.mark.parametrize("name", TABLE)
def test_arguments_are_refused(user_box, name):
    catalog.check_refused(user_box, name, TABLE[name])


@pytest.mark.parametrize("name, attack", catalog.chosen_attacks(TABLE))
def test_attack_stays_in_the_jail(cell, name, attack):
    catalog.check_attack(cell, name, TABLE[name], attack)
