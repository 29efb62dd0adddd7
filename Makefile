# Every target runs the project's pinned Node 24 (npm package `node`) through npm.
.PHONY: up console test check demo-replication

NPM_INSTALLED := node_modules/.package-lock.json
CONSOLE := services/console/dist/index.html

$(NPM_INSTALLED): package.json package-lock.json $(wildcard libs/*/package.json services/*/package.json)
	@echo 'installing npm packages'
	@npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

$(CONSOLE): $(NPM_INSTALLED) services/console/vite.config.ts $(shell find services/console/src/browser -type f)
	@npm run --silent build -w services/console
	@touch $@

# The files of the web console, built when a source is newer.
console: $(CONSOLE)

# The standalone control plane on http://127.0.0.1:8200 and https://localhost:8443, data in ./data.
# glibc backs large blocks with pages of 2 MiB where the system has them (10 % less CPU), and returns freed blocks
# to the system instead of keeping ever larger ones.
# Compiled code is kept between starts, so that a start does not load the compiler that strips types.
up: $(NPM_INSTALLED) $(CONSOLE)
	@NODE_COMPILE_CACHE=node_modules/.cache/compiled GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=131072 exec node_modules/node/bin/node services/standalone/src/main.ts

# Installs what a Debian machine lacks (as root; elsewhere says what is missing), then the whole suite.
test:
	@deploy/machine/prepare.sh
	@$(MAKE) --silent $(NPM_INSTALLED)
	@.ci/suite

# The static checks and the unit tests: per package what changed and what depends on it; the rest is cached.
check: $(NPM_INSTALLED)
	@npx turbo run typecheck lint test:unit //#imports //#format:check //#deadcode --output-logs=errors-only

# Three clusters that replicate, a partition, a failover and a failback (ARGS=--keep: they stay up). Needs nats-server.
demo-replication: $(NPM_INSTALLED) $(CONSOLE)
	@exec node_modules/node/bin/node deploy/demo-replication/src/main.ts $(ARGS)
