# What one does with this repository. `make help` lists it.
#
# Everything but deps and lab needs Go only. What else is there (node, QEMU, ip) is
# used, and what is not is listed at the end of `make test`. The lab takes Debian and
# root; where it cannot run, bin/lab says so and ends with 4.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --warn-undefined-variables

GO ?= go
# Flags for make test, as in make test TESTFLAGS='-run TestGolden'.
TESTFLAGS ?=
# What make test looks at.
PACKAGES ?= ./...
# How long make fuzz gives to each target.
FUZZTIME ?= 5s
STATICCHECK := $(GO) tool -modfile=$(CURDIR)/internal/tools/go.mod staticcheck
BIN := $(CURDIR)/bin

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | \
		while IFS='|' read -r name what; do printf '  make %-16s %s\n' "$$name" "$$what"; done

.PHONY: build
build: ## Build the command into bin/
	$(GO) build -o $(BIN)/ ./cmd/barewire-gen

.PHONY: demo
demo: build ## Generate from examples/, build it, run it
	@for dir in examples/*/; do $(BIN)/barewire-gen generate -v "$$dir"; done
	@for schema in examples/*/*.bare; do $(BIN)/barewire-gen layout "$$schema"; done
	@for dir in examples/*/; do echo; echo "== $$dir"; $(GO) run "./$$dir"; done

.PHONY: test
test: ## Run all tests; list what was skipped and why
	$(GO) test -json -timeout 20m $(TESTFLAGS) $(PACKAGES) | $(GO) run ./internal/testsum

# Words choose among presets, kernels and packages: make lab LAB='rdma 6.12'. bin/lab list has them.
LAB ?=

.PHONY: build-lab
build-lab:
	$(GO) build -o $(BIN)/ ./lab

.PHONY: lab
lab: build-lab ## Run tests in virtual machines with stock kernels and the kernel's RDMA, NUMA and CXL (Debian, root)
	$(BIN)/lab test $(LAB)

.PHONY: soak
soak: ## Run the differential tests over thousands of random schemas, and the analyzer over thousands of random programs (about an hour)
	SOAK=1 $(GO) test -v -count=1 -timeout 2h -run 'Random|Against|Front|Nasty|Other' ./internal/difftest
	BAREWIRE_RANDOM_SEEDS=1-30 $(GO) test -v -count=1 -timeout 2h -run '^TestRandom$$' ./analyzers/bwlife

# What is built with -race waits for a second when it ends, by default: also each of the hundreds of commands that tests
# start. A race that needs that second is behind the end of the program.
.PHONY: race
race: ## Run the core's tests under the race detector
	GORACE=atexit_sleep_ms=0 $(GO) test -race -short -timeout 15m ./schema/... ./gen/... ./runtime/... ./analyzers/... ./cmd/... ./examples/...

.PHONY: debug
debug: ## Run the runtime's tests with each access to a window checked, and unsafe pointers
	$(GO) test -short -timeout 15m -tags barewiredebug -gcflags=github.com/fidelityframework/barewire-gen/...=-d=checkptr ./runtime/...

.PHONY: deps
deps: build-lab ## Install what tests use beside Go: node packages, QEMU, iproute2; kernels for the lab, where it can run
	bash internal/difftest/deps.sh
	$(BIN)/lab fetch || [ $$? = 4 ]

.PHONY: lint
lint: build ## gofmt, vet, staticcheck and our own vet, over the tree, bench and generated code
	@unformatted=$$(git ls-files -co --exclude-standard '*.go' | xargs -r gofmt -l); \
		if [ -n "$$unformatted" ]; then echo "not gofmt-clean:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	GOOS=linux $(GO) vet -tags=lab ./lab/... ./runtime/...
	$(STATICCHECK) ./...
	GOOS=linux $(STATICCHECK) -tags=lab ./lab/... ./runtime/...
	$(BIN)/barewire-gen vet ./...
	cd bench && $(GO) vet ./... && $(STATICCHECK) ./... && $(BIN)/barewire-gen vet ./...
	$(GO) run ./internal/golden/extract _golden
	@unformatted=$$(gofmt -l _golden); if [ -n "$$unformatted" ]; then echo "generated code is not gofmt-clean:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./_golden/*/
	$(STATICCHECK) ./_golden/*/

# Before 1.27 Go may call it a failure that the time is up (go.dev/issue/75804). A finding writes its input, which
# that does not.
.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME
	@git ls-files -co --exclude-standard '*_test.go' | xargs grep -H '^func Fuzz' | grep -v '^bench/' | \
		sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*)\(.*|\1 \2|' | sort -u | \
		while read -r dir target; do \
			echo "fuzz $$dir $$target"; \
			log=$$(mktemp); \
			$(GO) test "./$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) </dev/null 2>&1 | tee "$$log" || \
				{ grep -qx '    context deadline exceeded' "$$log" && ! grep -q 'Failing input' "$$log" && \
				echo "no finding: the time was up in the midst of an input"; } || { rm -f "$$log"; exit 1; }; \
			rm -f "$$log"; \
		done

.PHONY: cross
cross: ## Build for other machines, the runtime's tests for other systems, too
	@for arch in amd64 arm64 386 s390x; do echo "linux/$$arch"; GOOS=linux GOARCH=$$arch CGO_ENABLED=0 $(GO) build ./...; done
	@for os in darwin windows; do echo "$$os/amd64"; GOOS=$$os GOARCH=amd64 CGO_ENABLED=0 $(GO) build ./cmd/... ./runtime/...; GOOS=$$os GOARCH=amd64 CGO_ENABLED=0 $(GO) vet ./runtime/...; done

.PHONY: check-generated
check-generated: build ## Fail if committed generated code or docs/codes.md is not up to date
	@for dir in examples/*/ internal/fuzzshapes runtime/internal/sample runtime/internal/placed runtime/gpu/internal/sample runtime/rdma/internal/ctl runtime/rdma/verbs/internal/exchange analyzers/bwsyntax/testdata/quote analyzers/bwsyntax/testdata/older analyzers/testdata/life/sample; do $(BIN)/barewire-gen generate --check "$$dir"; done
	$(GO) run ./internal/codes -check

.PHONY: vet-corpus
vet-corpus: ## Hold the analyzer of lifetimes to its correct and wrong functions; the last line counts them
	$(GO) test -count=1 -v -run '^TestCorpus$$' ./analyzers/bwlife | sed '/^correct /!d'

# It takes minutes and a gigabyte of other people's modules, so CI does not: run it when the analyzers' interface changes.
.PHONY: golangci
golangci: ## Build golangci-lint with the plugin into bin/, and hold it to what vet finds
	cd plugin/golangci && $(GO) test ./...
	cd internal/tools/golangci && $(GO) test -count=1 -v . && $(GO) build -o $(BIN)/golangci-lint-barewire .

.PHONY: compare-bodyclose
compare-bodyclose: ## Run timakin/bodyclose on the corpus translated to HTTP responses, beside ours (its own module)
	cd bench/bodyclose && $(GO) run . ../..

.PHONY: codes
codes: ## Write docs/codes.md from the registry of diagnostic codes
	$(GO) run ./internal/codes

.PHONY: bench
bench: ## Measure beside other implementations (its own module)
	cd bench && $(GO) run ./cmd/bench && $(GO) run ./cmd/benchrdma && $(GO) run ./cmd/benchvet && $(GO) run ./cmd/benchlsp && $(GO) run ./cmd/benchcheck

.PHONY: bench-rdma
bench-rdma: ## Measure regions and verbs beside what is bare, sockets and gRPC
	cd bench && $(GO) run ./cmd/benchrdma

.PHONY: bench-iwarp
bench-iwarp: ## Measure verbs over iWARP beside TCP by hand and gRPC
	cd bench && $(GO) run ./cmd/benchiwarp
