# The front door. Each target does its own set-up; the real build is Meson's, in build/.
# `make help` lists what there is.

BUILD   := build
PYTHON  := /usr/bin/python3
MESON   := meson
PREFIX  ?= /usr/local
DESTDIR ?=

# With -j the targets still come one after the other: they share build/.
.NOTPARALLEL:
.DEFAULT_GOAL := build
.PHONY: build run test bench install deb dist fmt fuzz analyze clean help setup

help: ## list these targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

setup:
	@tools/setup.sh build

$(BUILD)/build.ninja: | setup
	$(MESON) setup $(BUILD)

build: setup $(BUILD)/build.ninja ## build the library and the command, build/chokepoint
	$(MESON) compile -C $(BUILD)

run: build ## look at this very repository with every tool that is available, and make a page of it
	@tools/setup.sh run || echo "run: goes on, and says what is missing"
	@tools/demo.sh $(BUILD)/chokepoint

test: ## run every suite; ends with "N passed, N failed"
	@tools/setup.sh test $(filter full,$(SUITES))
	@$(PYTHON) tools/test/run-tests.py $(SUITES)

bench: build ## measure against posix_spawn, Python, bwrap, ..., as ratios; PEERS=1: and other sandboxes; QUICK=1: in minutes
	@tools/setup.sh bench $(if $(PEERS),peers) || echo "bench: goes on, and leaves out what is missing"
	@$(if $(PEERS),tools/node-packages.sh peers || echo "bench: goes on without the sandboxes of npm",:)
	$(PYTHON) bench/run.py --build $(BUILD) $(if $(PEERS),--peers) $(if $(QUICK),--quick)

install: build ## install to PREFIX (/usr/local), beneath DESTDIR where given
	$(MESON) configure $(BUILD) -Dprefix=$(PREFIX)
	DESTDIR='$(DESTDIR)' $(MESON) install -C $(BUILD)
	@if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

deb: ## build the Debian packages and check them with lintian, in build-deb/
	@tools/setup.sh packages
	@tools/deb.sh build-deb

dist: ## build the static command for a release, in build-dist/; KEY=FILE signs it
	@tools/setup.sh packages
	@tools/dist/dist.sh build-dist '$(KEY)'

fmt: ## put every C file into the project's format
	@tools/setup.sh test
	find include src tests examples bench bindings -name '*.[ch]' -exec clang-format -i {} +

fuzz: ## fuzz each target for FUZZ_SECONDS (600); new inputs stay in build-asan/
	@tools/setup.sh test
	@$(PYTHON) tools/test/run-tests.py --fuzz-seconds $(or $(FUZZ_SECONDS),600) fuzz

analyze: ## clang-tidy with the analyzer at its full depth, which takes minutes
	@tools/setup.sh test
	@$(PYTHON) tools/test/run-tests.py --analyzer-nodes 225000 tidy

clean: ## remove every build directory
	rm -rf $(BUILD) build-clang build-asan build-tsan build-arm64 build-deb build-dist
