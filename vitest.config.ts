import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** One project per layer of test; the layer is the suffix of the file (CONTRIBUTING.md). */
const project = (name: string, include: string[], exclude: string[] = [], seconds = 30) => ({
  test: {
    name,
    // Browser tests run first and alone: Chromium drops requests when containers add or remove a network.
    sequence: { groupOrder: name === 'browser' ? 0 : 1 },
    include,
    exclude: ['**/node_modules/**', ...exclude],
    testTimeout: seconds * 1000,
    hookTimeout: seconds * 1000,
    retry: 0,
    // The default of one second is too short on a busy machine.
    expect: { poll: { timeout: (seconds * 1000) / 2 } },
    pool: 'forks' as const,
    // A worker runs one file of unit tests after another without loading the sources again, which takes 1.3 s of
    // CPU for a file of a service. Such tests leave nothing behind: no mocks, no changed environment.
    isolate: name !== 'unit',
    env: {
      // testcontainers would pull an image for cleanup; the container tests stop the containers they start.
      TESTCONTAINERS_RYUK_DISABLED: 'true',
      // Compiling the same files again is most of the cost of starting a process in a test.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'compiled'),
    },
  },
});

const layered = ['property', 'contract', 'integration', 'browser'].map(
  (layer) => `**/*.${layer}.test.ts`,
);

export default defineConfig({
  test: {
    // The gateway serves the built console.
    globalSetup: ['services/console/test/built-console.ts'],
    // Use all cores; by default one is left idle. The order of the projects puts long files first.
    maxWorkers: availableParallelism(),
    projects: [
      project('unit', ['{libs,services,proto,deploy}/**/*.test.ts'], layered),
      project('property', ['{libs,services}/**/*.property.test.ts'], [], 120),
      project('contract', ['{libs,services}/**/*.contract.test.ts'], [], 120),
      project(
        'integration',
        ['{libs,services}/**/*.integration.test.ts', 'deploy/**/*.integration.test.ts'],
        [],
        300,
      ),
      project('conformance', ['conformance/**/*.test.ts'], ['**/*.browser.test.ts'], 300),
      project('browser', ['{deploy,services,conformance}/**/*.browser.test.ts'], [], 300),
      project('bench', ['bench/**/*.test.ts'], [], 300),
    ],
  },
});
