# The everyday commands. `make test` and `make demo` start from a bare Debian 12.
BUILD ?= build/release
JOBS ?= $(shell nproc)
PYTHON ?= python3
PACKAGES = g++ cmake ninja-build ccache lld python3 python3-numpy doctest-dev libcli11-dev libdnnl-dev libre2-dev libicu-dev \
           libjpeg62-turbo-dev libwebp7 libzstd1 zlib1g-dev libeigen3-dev llvm-19-dev libgrpc++-dev openssl python3-dev python3-venv
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)

STYLE_PACKAGES = clang-format-19 clang-tidy-19

.PHONY: help setup build dev install test demo bench gpu-test interop attack asan tsan format lint style_setup clean

help:
	@echo "make test    install packages, build, run all tests, lay out build/install"
	@echo "make demo    install packages, build, and train a network that reads handwritten digits, compile it and run it without weft"
	@echo "make bench TF=path/to/libtensorflow_cc.so.2    weft beside TensorFlow, interleaved, as ratios"
	@echo "make interop    exchange files with real TensorFlow (installed into build/interop/venv), both ways"
	@echo "make gpu-test    everything that needs a GPU, with a report in build/gpu_report (PEERS=script of PyTorch's and JAX's side)"
	@echo "make attack    try for 30 minutes to make the build crash, hang or return wrong results (MINUTES=..., NAMES='exit fork ...')"
	@echo "make asan | tsan    build and run the tests with sanitizers"
	@echo "make dev    build/dev for daily work: one object file per source file, so that an edit compiles one file (TARGETS='weft registry_test')"
	@echo "make format | lint    clang-format and ruff | clang-tidy and ruff, over files that differ from main (ALL=1: over all)"
	@echo "make build | install | clean"

setup: NEEDED = $(PACKAGES)
style_setup: NEEDED = $(STYLE_PACKAGES)
setup style_setup:
	@missing=$$(for p in $(NEEDED); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then echo "installing:" $$missing; \
	  $(SUDO) apt-get update -qq && DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing >/dev/null; fi

# The Python that the package is built for and tested with, in a folder of its own.
build/venv/ready: python/requirements.txt
	@$(PYTHON) -m venv build/venv && build/venv/bin/pip install -q --disable-pip-version-check -r python/requirements.txt && \
	  build/venv/bin/pip install -q --disable-pip-version-check --upgrade --target build/venv/with_protobuf protobuf && touch $@  # for tests/python/protobuf_test.py alone

build: setup build/venv/ready
	@start=$$(date +%s); cmake --preset release -DPython_EXECUTABLE=$(CURDIR)/build/venv/bin/python $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DWEFT_BULK=ON) >/dev/null && ninja -C $(BUILD) -j$(JOBS) && \
	  echo "build: $$(( $$(date +%s) - start )) s" | tee build/build_seconds

# For daily work: without batches (WEFT_BULK), with ccache; prints what it runs. make build is faster from nothing.
dev: setup build/venv/ready
	cmake --preset dev -DPython_EXECUTABLE=$(CURDIR)/build/venv/bin/python
	ninja -C build/dev -j$(JOBS) $(TARGETS)
	@echo "next: ninja -C build/dev TARGET, ctest --test-dir build/dev -R NAME, PYTHONPATH=build/dev/python build/venv/bin/python"

build/lint/bin/ruff: python/requirements-dev.txt
	@$(PYTHON) -m venv build/lint && build/lint/bin/pip install -q --disable-pip-version-check -r python/requirements-dev.txt && touch $@

format: style_setup build/lint/bin/ruff
	@python3 cmake/code_style.py format --strict $(if $(ALL),--all)

lint: setup style_setup build/venv/ready build/lint/bin/ruff
	@python3 cmake/code_style.py check --strict $(if $(ALL),--all)
	@cmake --preset dev -DPython_EXECUTABLE=$(CURDIR)/build/venv/bin/python >/dev/null
	@python3 cmake/code_style.py tidy --strict --build build/dev $(if $(ALL),--all)

install: build
	@cmake --install $(BUILD) --prefix build/install --strip >/dev/null && echo "installed in build/install"

test: install
	@start=$$(date +%s); ctest --test-dir $(BUILD) -j$(JOBS) --output-on-failure; code=$$?; \
	cat build/build_seconds; echo "tests: $$(( $$(date +%s) - start )) s"; exit $$code

demo: install
	@build/install/bin/weft --version
	@$(BUILD)/examples/digits examples/data/digits.npz build/digits
	@build/install/bin/weft show build/digits/model | head -20
	@echo && build/install/bin/weft compile build/digits/model -o build/digits/net --class demo::Digits -s serving_default -s train --target-cpu native --check
	@$(CXX) -std=c++17 -O2 -Ibuild/digits examples/embedded.cc build/digits/net.o -lm -o build/digits/embedded
	@echo && build/digits/embedded build/digits && echo "  the program     build/digits/embedded    needs: $$(ldd build/digits/embedded | awk '{print $$1}' | tr '\n' ' ')"

bench: install
	@python3 bench/run.py --weft build/install/lib/libtensorflow.so $(if $(TF),--tensorflow $(TF)) $(ARGS)

# On a machine with a GPU: what was just built. Where nothing can be built, tests/gpu/pack.sh lays out what tests/gpu/machine.sh needs.
gpu-test: install
	@mkdir -p build/gpu && ln -sfn ../python/weft build/gpu/weft && cp -u $(BUILD)/src/libweft.so.1 $(BUILD)/src/libweft_jit.so $(BUILD)/tests/play build/gpu/
	@PYTHON=build/venv/bin/python PEERS=$(PEERS) tests/gpu/machine.sh build/gpu

interop: install
	@tests/interop/run.sh $(BUILD) build/interop

MINUTES ?= 30
attack: build
	@build/venv/bin/python tests/attack/run.py --minutes $(MINUTES) --build $(BUILD) $(NAMES)

# The sanitizers' options are the tests' own (cmake/weft.cmake); programs that are built and run on the way take the one below.
asan tsan: export ASAN_OPTIONS = detect_stack_use_after_return=0:intercept_tls_get_addr=0
asan tsan: setup build/venv/ready
	cmake --preset $@ -DPython_EXECUTABLE=$(CURDIR)/build/venv/bin/python >/dev/null && ninja -C build/$@ -j$(JOBS) && ctest --test-dir build/$@ -j$(JOBS) --output-on-failure

clean:
	rm -rf build
