# Every target runs the project's pinned Node 24 (npm package `node`) through npm.
.PHONY: up test check demo-replication

NPM_INSTALLED := node_modules/.package-lock.json

$(NPM_INSTALLED): package.json package-lock.json $(wildcard libs/*/package.json services/*/package.json)
	@echo 'installing npm packages'
	@npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

# The standalone control plane on http://127.0.0.1:8200 and https://localhost:8443, data in ./data.
# Large blocks of memory are taken in pages of 2 MiB where the system has them, and given back when they are
# freed (decision 0103).
up: $(NPM_INSTALLED)
	@GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=131072 exec node_modules/node/bin/node --disable-warning=ExperimentalWarning services/standalone/src/start.js

# Installs what a Debian machine lacks (as root; elsewhere says what is missing), then the whole suite.
test:
	@deploy/machine/prepare.sh
	@$(MAKE) --silent $(NPM_INSTALLED)
	@.ci/suite

# The static checks alone, cached.
check: $(NPM_INSTALLED)
	@npx turbo run //#typecheck //#lint //#format:check //#deadcode --output-logs=errors-only

# Three clusters that replicate, a partition, a failover and a failback (ARGS=--keep: they stay up). Needs nats-server.
demo-replication: $(NPM_INSTALLED)
	@exec node_modules/node/bin/node deploy/demo-replication/src/main.ts $(ARGS)
