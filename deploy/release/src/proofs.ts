import { globSync } from 'node:fs';
import { sourcesOf } from './package-sources.ts';
import { REPOSITORY } from './repository.ts';

/**
 * The tests that prove a release rather than a commit: they make or run its parts, and take long. `make test-release`
 * runs them all; continuous integration runs those whose inputs have changed since they passed (`due-proofs.ts`).
 */
export interface ReleaseProof {
  /** The vitest project of its tests is `release-NAME`. */
  readonly name: string;
  /** Files of tests. */
  readonly tests: readonly string[];
  /** Files of the repository that decide whether they pass, as git's patterns. Unit tests among them do not count. */
  readonly inputs: readonly string[];
  /** The layer as whose files they run, if not as those of conformance. */
  readonly layer?: 'browser' | 'integration';
  /** Variables of their processes. Tests that have them belong to each commit, too, which runs them without. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Runs after all other tests, because containers that add or remove a network make Chromium drop requests. */
  readonly isLast?: true;
}

/**
 * The processes of a control plane: where they start, their settings, and what they run with. How their capabilities
 * are composed is proved with every commit.
 */
const PROCESSES = [
  'package-lock.json',
  'libs/config/src',
  'libs/runtime/src',
  ':(glob)libs/*/package.json',
  ':(glob)services/*/package.json',
  ':(glob)services/*/src/main.ts',
  ':(glob)services/*/src/config.ts',
  ':(glob)services/standalone/src/*.ts',
];

/** The servers that tests start, without what only one proof has, which is in folders. */
const SERVERS_OF_TESTS = ':(glob)libs/testkit/src/*.ts';

const filesOf = (...patterns: readonly string[]): readonly string[] =>
  globSync([...patterns], { cwd: REPOSITORY }).toSorted();

/** The flows of the console that every commit proves: signing in, the first evening, and the pages as a whole. */
const CONSOLE_OF_A_COMMIT = ['console', 'first-steps', 'sign-in'];

const browserTestsOfConsole = (): readonly string[] => {
  const apart = [...CONSOLE_OF_A_COMMIT, 'accessibility', 'pictures'].map(
    (name) => `services/console/test/${name}.browser.test.ts`,
  );
  return filesOf('services/console/test/*.browser.test.ts').filter((file) => !apart.includes(file));
};

/** Tests of a control plane that is to be the same whether one thread or several serve its clients. */
const TESTS_OF_THREADS = [
  'bad-days',
  'bad-input',
  'client-certificates',
  'clusters/dr-replication',
  'ended-rights',
  'faults/leaked-unseal-key',
  'faults/lost-stores',
  'faults/power-cuts',
  'faults/snapshots',
  'locked-users',
  'login-mfa',
  'logins',
  'pki-callers',
  'quotas',
  'rotation',
  'standalone',
  'workspace-callers',
].map((name) => `services/standalone/test/${name}.integration.test.ts`);

export const RELEASE_PROOFS: readonly ReleaseProof[] = [
  {
    name: 'threads',
    layer: 'integration',
    tests: TESTS_OF_THREADS,
    environment: { KEELSON_WORKERS: '4' },
    inputs: [
      ...PROCESSES,
      'libs/storage/src',
      'services/gateway/src/threads',
      'services/standalone/src/threads',
    ],
  },
  {
    name: 'packages',
    tests: ['deploy/release/release.integration.test.ts'],
    inputs: [
      ...PROCESSES,
      'deploy/release',
      'deploy/images',
      'services/cli/src',
      'services/console/vite.config.ts',
      'docs/releasing.md',
    ],
  },
  {
    name: 'clone',
    tests: ['deploy/test/first-start.integration.test.ts'],
    inputs: [...PROCESSES, 'Makefile', 'services/console/vite.config.ts'],
  },
  {
    name: 'containers',
    isLast: true,
    tests: [
      'deploy/test/containers.integration.test.ts',
      'deploy/test/agent-container.integration.test.ts',
      'deploy/test/compose-network.integration.test.ts',
      'deploy/test/hostile-container.integration.test.ts',
    ],
    inputs: [
      ...PROCESSES,
      'docker-compose.yml',
      'deploy/agent/Dockerfile',
      ...sourcesOf('deploy/agent'),
      'deploy/databases',
      'deploy/demo-replication',
      'deploy/images',
      'deploy/kubernetes',
      'deploy/policy-service',
      'deploy/proxy',
      'deploy/test/agent-image.ts',
      'deploy/test/compose-file.ts',
      'deploy/test/images.ts',
      'deploy/test/outside-projects.ts',
      'libs/rpc/src',
      'libs/testcontainers',
      'libs/testkit/src/hostile-run',
    ],
  },
  {
    name: 'chart',
    tests: ['deploy/helm/test/chart.integration.test.ts'],
    inputs: [
      'package.json',
      'deploy/helm',
      'deploy/kubernetes',
      'deploy/release/src/chart.ts',
      'deploy/test/images.ts',
      'deploy/test/strict-decoder.ts',
      'deploy/test/strict-manifests',
    ],
  },
  {
    name: 'kubernetes',
    tests: ['deploy/test/kubernetes-jobs.integration.test.ts'],
    inputs: [
      ...PROCESSES,
      'deploy/agent/src',
      'deploy/kubernetes/agent',
      'deploy/test/api-server.ts',
      'deploy/test/kube-apiserver',
      'deploy/test/stand-in-cluster.ts',
      'libs/agent/src',
    ],
  },
  {
    name: 'site',
    tests: ['deploy/site/site.browser.test.ts'],
    inputs: ['deploy/site', 'docs', ':(glob)*.md', ':(glob)**/README.md'],
  },
  {
    name: 'clients',
    tests: ['conformance/java/java.test.ts', 'conformance/openapi/clients.test.ts'],
    inputs: [
      'conformance/java',
      'conformance/openapi',
      'libs/jsonapi/src',
      'libs/secrets-api/src',
      'services/gateway/src/openapi',
      ':(glob)services/*/src/**/*-document.ts',
      ':(glob)services/*/src/**/*-routes.ts',
    ],
  },
  {
    name: 'go-tfe',
    tests: ['conformance/go-tfe-suite/go-tfe-suite.test.ts'],
    inputs: [
      ...PROCESSES,
      'conformance/go-tfe-suite',
      'libs/edge/src',
      'libs/jsonapi/src',
      'services/gateway/src',
      'services/runner/src',
      'services/workspace/src',
    ],
  },
  {
    name: 'acme',
    tests: [
      'conformance/acme/caddy.test.ts',
      'conformance/acme/certbot.test.ts',
      'conformance/acme/dehydrated.test.ts',
      'conformance/acme/renewal-information.test.ts',
      'conformance/acme/replicas.test.ts',
      'conformance/cert-manager/cert-manager.test.ts',
    ],
    inputs: [
      ...PROCESSES,
      'conformance/acme',
      'conformance/cert-manager',
      SERVERS_OF_TESTS,
      'libs/edge/src',
      'services/gateway/src',
      'services/pki/src/acme',
    ],
  },
  {
    name: 'cert-manager',
    tests: ['conformance/cert-manager-issuer/cert-manager-issuer.test.ts'],
    inputs: [
      ...PROCESSES,
      'conformance/cert-manager-issuer',
      'docs/signing-in.md',
      SERVERS_OF_TESTS,
      'services/auth/src',
    ],
  },
  {
    name: 'vault-cli',
    tests: ['conformance/vault-cli/vault-cli.test.ts'],
    inputs: [
      ...PROCESSES,
      'conformance/vault-cli',
      SERVERS_OF_TESTS,
      'libs/secrets-api/src',
      'services/auth/src',
      'services/gateway/src',
      'services/pki/src',
      'services/sys/src',
    ],
  },
  {
    name: 'tofu',
    tests: ['conformance/tofu/tofu.test.ts'],
    inputs: [
      ...PROCESSES,
      'conformance/tofu',
      'conformance/terraform/command-login.ts',
      'conformance/terraform/provider-mirror.ts',
      'conformance/terraform/terraform-cli.ts',
      SERVERS_OF_TESTS,
      'services/workspace/src/identity/command-logins',
      'services/workspace/src/runs',
      'services/workspace/src/state',
      ...sourcesOf('services/runner'),
    ],
  },
  {
    name: 'runs',
    tests: [
      'conformance/terraform/built-in-runner.test.ts',
      'conformance/terraform/private-repository.test.ts',
      'conformance/terraform/remote-faults.test.ts',
      'conformance/terraform/remote-runs.test.ts',
      'conformance/terraform/ssh-modules.test.ts',
      'conformance/vault-provider/several-configurations.test.ts',
    ],
    inputs: [
      ...PROCESSES,
      'conformance/terraform',
      'conformance/vault-provider',
      'deploy/agent/src',
      SERVERS_OF_TESTS,
      'libs/agent/src/credentials',
      'services/workspace/src/runs',
      'services/workspace/src/state',
      'services/workspace/src/vcs',
      ...sourcesOf('services/runner'),
      'libs/sandbox/src',
    ],
  },
  {
    name: 'version-control',
    tests: filesOf('conformance/vcs/*.test.ts'),
    inputs: [
      ...PROCESSES,
      'conformance/vcs',
      'deploy/agent/src',
      'docs/tutorials',
      SERVERS_OF_TESTS,
      'libs/agent/src',
      'libs/outbound/src',
      'libs/repositories/src',
      'services/workspace/src/runs',
      'services/workspace/src/state',
      'services/workspace/src/vcs',
      'services/workspace/src/workspaces/model',
    ],
  },
  {
    name: 'sandbox',
    layer: 'integration',
    tests: [
      'libs/agent/src/execution/control-groups.integration.test.ts',
      'libs/sandbox/src/control-groups.integration.test.ts',
      'libs/sandbox/src/sandbox.integration.test.ts',
    ],
    inputs: [
      'package-lock.json',
      'libs/agent/src/execution',
      'libs/sandbox/src',
      'libs/supervisor/src',
      'libs/testkit/src/user-mode-linux',
    ],
  },
  {
    name: 'accessibility',
    tests: ['services/console/test/accessibility.browser.test.ts'],
    inputs: ['package-lock.json', 'libs/testkit/src/chromium.ts', 'services/console'],
  },
  {
    name: 'pictures',
    tests: ['services/console/test/pictures.browser.test.ts'],
    inputs: ['package-lock.json', 'libs/testkit/src/chromium.ts', 'services/console'],
  },
  {
    name: 'console',
    layer: 'browser',
    tests: browserTestsOfConsole(),
    inputs: [
      'package-lock.json',
      SERVERS_OF_TESTS,
      'services/console',
      ...sourcesOf('services/standalone'),
    ],
  },
  {
    name: 'upgrades',
    tests: ['services/standalone/test/rolling-upgrade.integration.test.ts'],
    inputs: [
      ...PROCESSES,
      SERVERS_OF_TESTS,
      'services/standalone/test/golden',
      'services/standalone/test/next-release',
      'services/sys/src/upgrades',
      ...sourcesOf('services/gateway', 'libs/cluster-member'),
    ],
  },
  {
    name: 'hostile',
    tests: ['services/standalone/test/hostile-run.integration.test.ts'],
    inputs: [
      'deploy/agent/src',
      'libs/agent/src',
      'libs/repositories/src',
      'libs/runtime/src',
      'libs/sandbox/src',
      'libs/supervisor/src',
      'libs/testkit/src/hostile-run',
      'services/runner/src',
      'services/standalone/src',
      'services/workspace/src/state/state-versions/state-summary-reader.ts',
    ],
  },
  {
    name: 'hostile-repositories',
    tests: [
      'services/workspace/src/vcs/ingress/hostile-answers.integration.test.ts',
      'services/workspace/src/vcs/ingress/hostile-repositories.integration.test.ts',
      'services/workspace/src/vcs/ingress/hostile-servers.integration.test.ts',
    ],
    inputs: [
      'package-lock.json',
      'libs/outbound/src',
      'libs/repositories/src',
      'libs/supervisor/src',
      'libs/testkit/src/repository-server.ts',
      'services/workspace/src/state/configuration-versions',
      'services/workspace/src/vcs',
      ':(glob)services/workspace/src/workspaces/model/repository-*.ts',
      'services/workspace/test/fetch-workers.ts',
      'services/workspace/test/hostile-packs.ts',
      'services/workspace/test/odd-commits.ts',
      'services/workspace/test/repository-harness.ts',
    ],
  },
  {
    name: 'replication',
    layer: 'integration',
    tests: filesOf(
      'deploy/demo-replication/test/*.integration.test.ts',
      'libs/replication/test/*.integration.test.ts',
      'services/standalone/test/clusters/*.integration.test.ts',
    ),
    inputs: [
      ...PROCESSES,
      'deploy/demo-replication',
      'docs/moving-to-postgresql.md',
      SERVERS_OF_TESTS,
      'libs/bus/src',
      'libs/cluster-member/src',
      'libs/locks/src',
      'libs/objects/src',
      'libs/replication/src',
      'libs/replication/test',
      'libs/rpc/src',
      'libs/storage/src',
      'proto/keelson',
      'services/auth/src',
      'services/gateway/src',
      'services/pki/src/clusters',
      'services/sys/src',
      ':(glob)services/*/src/*.ts',
    ],
  },
  {
    name: 'storage',
    layer: 'integration',
    tests: [
      ...filesOf('libs/storage/src/crash/*.property.test.ts'),
      'libs/storage/src/sqlite/disk-faults.integration.test.ts',
    ],
    inputs: [
      'package-lock.json',
      'libs/storage/src',
      'libs/testkit/src/postgres.ts',
      'libs/testkit/src/power-cut',
      'libs/testkit/src/property-settings.ts',
      'libs/testkit/src/temporary-directory.ts',
    ],
  },
  {
    name: 'faults',
    layer: 'integration',
    tests: filesOf('services/standalone/test/faults/*.integration.test.ts'),
    inputs: [
      ...PROCESSES,
      SERVERS_OF_TESTS,
      'libs/locks/src',
      'libs/objects/src',
      'libs/storage/src',
      'services/gateway/src',
      'services/sys/src',
      ':(glob)services/*/src/*.ts',
      ':(glob)services/standalone/test/*.ts',
    ],
  },
  {
    name: 'operation',
    layer: 'integration',
    tests: filesOf(
      'services/cli/test/command-line.integration.test.ts',
      'services/standalone/test/operation/*.integration.test.ts',
    ),
    inputs: [
      ...PROCESSES,
      'docs/command-line.md',
      'docs/runbooks',
      'docs/tutorials',
      SERVERS_OF_TESTS,
      'services/cli',
      'services/gateway/src',
      'services/sys/src',
      ':(glob)services/**/*-routes.ts',
      ':(glob)services/standalone/test/*.ts',
    ],
  },
  {
    name: 'benches',
    tests: ['bench/src/bench.test.ts', 'bench/src/chaos/chaos.test.ts'],
    inputs: [
      ...PROCESSES,
      'bench',
      'deploy/high-availability',
      'libs/bus/src',
      'libs/locks/src',
      'libs/replication/src',
      'libs/storage/src',
      'libs/testkit/src',
    ],
  },
];
