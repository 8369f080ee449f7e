# What people type. Everything is installed, built and fetched by these targets; each does nothing twice.
#   make demo    trains a 10 M parameter model on real English text (TEXT="files..." for your own)
#   make test    builds and passes the tests
#   make bench   measures the kernels and the whole GPT-2 124M step beside the machine's floor
BUILD ?= build
JOBS  ?= $(shell nproc)
TEXT  ?=

.PHONY: demo test parity bench build setup asan tsan fuzz format check tidy clean

demo: build
	@scripts/demo $(BUILD) $(TEXT)

test: build
	@cmake --build $(BUILD) -j $(JOBS)
	@cd $(BUILD) && ctest --output-on-failure -j 1 $(CTEST_FLAGS)

# Every product of the parallel axes on up to 16 ranks against one rank: about an hour on two cores.
parity: build
	@cmake --build $(BUILD) -j $(JOBS) --target test_dist
	@$(BUILD)/tests/test_dist --gtest_also_run_disabled_tests --gtest_filter='ParityProduct.*'

bench: build
	@cmake --build $(BUILD) -j $(JOBS)
	@scripts/bench $(BUILD)

# The binary alone: what the demo needs.
build: $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target trireme

$(BUILD)/build.ninja: CMakeLists.txt CMakePresets.json | setup
	@cmake --preset release -B $(BUILD) $(CMAKE_FLAGS)

setup:
	@scripts/install-packages

asan: setup
	@cmake --preset asan && cmake --build --preset asan -j $(JOBS)
	@cd build-asan && ctest --output-on-failure -j 1 $(CTEST_FLAGS)

# The tests in which ranks are threads: exactly those that scripts/tsan lists.
tsan: setup
	@JOBS=$(JOBS) scripts/tsan

# Every fuzz target for SECONDS (default 300) from its corpus.
fuzz: setup
	@scripts/fuzz $(or $(SECONDS),300)

format:
	@git ls-files '*.h' '*.cpp' | xargs clang-format -i

# The pages are checked against the binary where there is one.
check: setup
	@scripts/check-layers && scripts/check-format && scripts/check-names && scripts/check-docs $(wildcard $(BUILD)/src/trireme)

# What differs from where the branch left origin/main; scripts/check-tidy --all takes every source.
tidy: $(BUILD)/build.ninja
	@scripts/check-tidy "" $(BUILD)

clean:
	rm -rf $(BUILD) build-asan build-tsan build-fuzz build-dev build-ci
