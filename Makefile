# Every target runs the project's pinned Node 24 (npm package `node`) through npm.
.PHONY: up console test test-release check release site demo-replication

# What a running Keelson and the build of its console need. Packages for development are kept once they are there.
INSTALLED := node_modules/.package-lock.json
# Also what the checks and tests need.
INSTALLED_FOR_DEVELOPMENT := node_modules/.installed-for-development
CONSOLE := services/console/dist/index.html
MANIFESTS := package.json package-lock.json $(wildcard libs/*/package.json services/*/package.json)
# npm ends late when it is interrupted, and says nothing: the shell does, while it waits.
NPM_INSTALL := trap 'echo "Stopping when npm has ended what it began, which can take a minute."' INT; \
	install() { npm install --no-save --no-audit --no-fund --loglevel=error "$$@" & wait $$! || wait $$!; }; install

$(INSTALLED): $(MANIFESTS)
	@echo 'Installing the npm packages that Keelson runs with.'
	@$(NPM_INSTALL) $(if $(wildcard node_modules/vitest),,--omit=dev)
	@touch $@

$(INSTALLED_FOR_DEVELOPMENT): $(MANIFESTS)
	@echo 'Installing the npm packages, with those for development.'
	@$(NPM_INSTALL)
	@touch $@ $(INSTALLED)

$(CONSOLE): $(INSTALLED) services/console/vite.config.ts $(shell find services/console/src/browser -type f)
	@echo 'Building the web console.'
	@npm run --silent build -w services/console
	@touch $@

# The files of the web console, built when a source is newer.
console: $(CONSOLE)

# The standalone control plane on http://127.0.0.1:8200 and https://localhost:8443, data in ./data.
# glibc backs large blocks with pages of 2 MiB where the system has them (10 % less CPU), and returns freed blocks
# to the system instead of keeping ever larger ones. Two arenas for all threads keep 50 MB less under load, and a
# young generation of at most 48 MB, in place of 192, 60 to 170 MB less.
# Compiled code is kept between starts, so that a start does not load the compiler that strips types.
# No signal opens a debugger, and no core is dumped: both would show the secrets in memory.
up: $(INSTALLED) $(CONSOLE)
	@echo 'Starting Keelson.'
	@ulimit -c 0; NODE_COMPILE_CACHE=node_modules/.cache/compiled GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=131072:glibc.malloc.arena_max=2 NODE_OPTIONS=--max-semi-space-size=16 exec node_modules/node/bin/node --disable-sigusr1 services/standalone/src/main.ts

# Proves a commit: installs what a Debian machine lacks (as root; elsewhere says what is missing), then the static
# checks and all tests but those of a release.
test: SUITE ?= commit
# The tests of a release: its packages, containers, chart and site, generated clients, benches and faults.
test-release: SUITE := release
test test-release:
	@deploy/machine/prepare.sh
	@$(MAKE) --silent $(INSTALLED_FOR_DEVELOPMENT)
	@.ci/suite $(SUITE)

# The static checks and the unit tests: per package what changed and what depends on it; the rest is cached.
check: $(INSTALLED_FOR_DEVELOPMENT)
	@TURBO_TELEMETRY_DISABLED=1 npx turbo run typecheck lint test:unit //#imports //#format:check //#deadcode --continue --output-logs=errors-only

# Three clusters that replicate, a partition, a failover and a failback (ARGS=--keep: they stay up). Needs nats-server.
demo-replication: $(INSTALLED) $(CONSOLE)
	@ulimit -c 0; exec node_modules/node/bin/node --disable-sigusr1 deploy/demo-replication/src/main.ts $(ARGS)

# The npm package, the Debian package, the chart, a bill of materials, licences and checksums, in dist/
# (docs/releasing.md). Needs dpkg-deb.
release: $(INSTALLED_FOR_DEVELOPMENT) $(CONSOLE)
	@exec node_modules/node/bin/node deploy/release/src/main.ts

# The documentation as a site of static files, in deploy/site/dist. Its generator is no part of an installation.
site: $(INSTALLED)
	@npm ci --prefix deploy/site --ignore-scripts --no-audit --no-fund --loglevel=error
	@exec node_modules/node/bin/node deploy/site/node_modules/vitepress/bin/vitepress.js build deploy/site
