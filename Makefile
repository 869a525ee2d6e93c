# Short verbs for everyday work; `make help` lists them.

CARGO ?= cargo
MUMAKIL = target/release/mumakil
FUZZ_SECONDS ?= 60
RUNS ?= 1000
FUZZ_TARGETS ?= swim rumen topology sls list scenario set expression allocations protocol study pack session \
    log batch
FUZZ_SANITIZER ?= address

.DEFAULT_GOAL := build
.PHONY: build demo test chaos mutants papers picture gallery outsiders fuzz bench instructions lint deps format doc transcripts install guided release clean help

build: ## Build the binary target/release/mumakil, quickly; `make install` takes longer and runs faster
	@[ -e $(MUMAKIL) ] || echo "Building $(MUMAKIL): about five minutes of processor time, half of that on two cores."
	$(CARGO) build --release

demo: build ## Run the bundled scenario; results in out/quickstart-42
	$(MUMAKIL) run quickstart --force

test: ## Run all tests, those in the documentation too
	$(CARGO) test

chaos: ## Run RUNS (1000) random scenarios under the checker, with the cores' own assertions
	$(CARGO) build --profile chaos
	target/chaos/mumakil chaos --runs $(RUNS)

outsiders: build ## Check a run's outputs with other people's tools; needs Python
	tests/outsiders/run $(MUMAKIL)

# Coverage takes unstable flags of the compiler. There is no unsafe code here, but the crates below
# have some: YAML is read by C made into Rust. FUZZ_SANITIZER=none is faster.
fuzz: ## Fuzz each reader of files, arguments and requests for FUZZ_SECONDS (60); needs `cargo install cargo-fuzz`
	@mkdir -p target/fuzz
	@for target in $(FUZZ_TARGETS); do \
	    mkdir -p target/fuzz/corpus/$$target; \
	    RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --fuzz-dir tests/fuzz --target-dir target/fuzz \
	        --sanitizer $(FUZZ_SANITIZER) $$target target/fuzz/corpus/$$target tests/fuzz/seeds/$$target -- \
	        -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -artifact_prefix=target/fuzz/$$target- \
	        || exit 1; \
	done

mutants: ## Try wrong versions of single mechanisms on the experiments that should notice them
	$(CARGO) build --profile chaos
	target/chaos/mumakil papers --mutants

papers: build ## Repeat the papers' experiments and write the guide's table of them
	$(MUMAKIL) papers --sabotage
	$(MUMAKIL) papers --sabotage --markdown > target/papers.md
	sed -i -e '/^<!-- papers: made/,/^<!-- papers: end/{//!d}' \
	    -e '/^<!-- papers: made/r target/papers.md' satellites/papers/experiments.md
	for study in scenarios/findings/*.yaml; do \
	    cp out/papers/$$(basename $$study .yaml)/charts/01.svg $${study%.yaml}.svg; \
	done

picture: build ## Draw the README's picture anew: the head of a run's report
	MUMAKIL_UPDATE=1 $(CARGO) test --test it -- picture

gallery: build ## Make pages of the most telling pictures in out/gallery, and what makes each; needs Python
	scenarios/gallery/pages.py $(MUMAKIL) out/gallery

bench: ## Measure speed; prints figures, checks none
	$(CARGO) bench --profile dist

instructions: build ## Count the instructions of the most used paths and compare them; needs valgrind
	tests/instructions/run $(MUMAKIL)

lint: ## Check format and lints; warnings are errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --all-targets -- -D warnings

deps: ## Check licences, sources and versions of all packages by deny.toml
	tests/dependencies/run

format: ## Format the sources
	$(CARGO) fmt --all

doc: ## Build the documentation of the library
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps

transcripts: ## Write what the commands in tests/cmd, README and guide print now; read the difference
	MUMAKIL_UPDATE=1 $(CARGO) test --test it -- the_shapes_that_are_kept
	MUMAKIL_UPDATE=1 TRYCMD=overwrite INSTA_UPDATE=always $(CARGO) test --test it
	git diff --stat

install: ## Install the command, fast, into cargo's own folder of binaries
	$(CARGO) install --locked --path . --profile dist

guided: ## Install a faster one, built twice, the second time by what runs of the first use
	benches/guided

release: ## Build all that a release consists of into target/release-files, and install each into a bare place
	packaging/build

clean: ## Remove what was built; results stay
	$(CARGO) clean

help: ## Print this list
	@sed -n 's/^\([a-z]*\):.*## /\1: /p' $(MAKEFILE_LIST) | awk -F': ' '{ printf "  make %-12s %s\n", $$1, $$2 }'
