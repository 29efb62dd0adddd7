import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { RELEASE_PROOFS } from './deploy/release/src/proofs.ts';

/** A part of the tests, which `--project` chooses. */
interface Part {
  readonly name: string;
  /** As whose files its own run: how many at once, when, and in which processes. */
  readonly layer: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Limit for a test. */
  readonly seconds: number;
  /** Runs after all others. */
  readonly isLast?: boolean | undefined;
  /** Variables of its processes. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** The layers whose files wait for leases, intervals and other processes half of the time. */
const WAITING: readonly string[] = ['unit', 'property', 'contract', 'integration'];

/** The layers whose files share the processes in which they run. */
const SHARED_WORKERS: readonly string[] = [...WAITING, 'browser'];

/** Use all cores; by default one is left idle. */
const CORES = availableParallelism();

const orderOf = (isWaiting: boolean, isLast: boolean): number => {
  if (isLast) return 2;
  return isWaiting ? 1 : 0;
};

const project = ({
  name,
  layer,
  include,
  exclude,
  seconds,
  isLast = false,
  environment,
}: Part) => ({
  test: {
    name,
    sequence: { groupOrder: orderOf(WAITING.includes(layer), isLast) },
    // Browsers and the programs of conformance tests fill the cores by themselves.
    maxWorkers: WAITING.includes(layer) ? CORES * 2 : CORES,
    setupFiles: [join(import.meta.dirname, 'libs/testkit/src/failed-test-logs.ts')],
    include: [...include],
    exclude: ['**/node_modules/**', ...exclude],
    testTimeout: seconds * 1000,
    hookTimeout: seconds * 1000,
    retry: 0,
    // The default of one second is too short on a busy machine.
    expect: { poll: { timeout: (seconds * 1000) / 2 } },
    pool: 'forks' as const,
    // A worker runs one file after another without loading the sources again, which takes 1.3 s of CPU for a file of
    // a service. Such tests leave nothing behind: no mocks, no changed environment, no open service.
    isolate: !SHARED_WORKERS.includes(layer),
    env: {
      // testcontainers would pull an image for cleanup; the container tests stop the containers they start.
      TESTCONTAINERS_RYUK_DISABLED: 'true',
      // Compiling the same files again is most of the cost of starting a process in a test.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'compiled'),
      ...environment,
    },
  },
});

/** Tests of a release alone, which no commit runs. */
const releaseTests = RELEASE_PROOFS.flatMap(({ tests, environment }) =>
  environment === undefined ? tests : [],
);
const layered = ['property', 'contract', 'integration', 'browser'].map(
  (layer) => `**/*.${layer}.test.ts`,
);

/** The tests of a layer, which is the suffix of the file (CONTRIBUTING.md), without those of a release. */
const layerOf = (name: string, include: string, seconds: number, exclude: readonly string[] = []) =>
  project({
    name,
    layer: name,
    include: [include],
    exclude: [...exclude, ...releaseTests],
    seconds,
  });

const projects = [
  ...RELEASE_PROOFS.map(({ name, layer = 'conformance', tests, ...part }) =>
    project({
      ...part,
      name: `release-${name}`,
      layer,
      include: tests,
      exclude: [],
      seconds: 300,
    }),
  ),
  layerOf('browser', '{deploy,services,conformance}/**/*.browser.test.ts', 300),
  layerOf('conformance', 'conformance/**/*.test.ts', 300, ['**/*.browser.test.ts']),
  layerOf('integration', '{libs,services,deploy}/**/*.integration.test.ts', 300),
  layerOf('contract', '{libs,services}/**/*.contract.test.ts', 120),
  layerOf('property', '{libs,services}/**/*.property.test.ts', 120),
  layerOf('unit', '{libs,services,proto,deploy,bench}/**/*.test.ts', 30, layered),
];

/** The projects in the order above, which begins with the longest files, so that no core is idle at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ project: { name } }: TestSpecification): number =>
      projects.findIndex(({ test }) => test.name === name);
    const groupOf = ({ project: { config } }: TestSpecification): number =>
      config.sequence.groupOrder;
    return (await super.sort(files)).toSorted(
      (a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b),
    );
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // The gateway serves the built console.
    globalSetup: ['services/console/test/built-console.ts'],
    projects,
  },
});
