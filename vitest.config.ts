import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** One project per layer of test; the layer is the suffix of the file (CONTRIBUTING.md). */
const project = (name: string, include: string[], exclude: string[] = [], seconds = 30) => ({
  test: {
    name,
    // First, and nothing beside them: Chromium drops its requests when a network comes or goes, as those of containers do.
    sequence: { groupOrder: name === 'browser' ? 0 : 1 },
    include,
    exclude: ['**/node_modules/**', ...exclude],
    testTimeout: seconds * 1000,
    hookTimeout: seconds * 1000,
    retry: 0,
    // What is waited for comes when a busy machine gets to it; a second is for idle ones.
    expect: { poll: { timeout: (seconds * 1000) / 2 } },
    pool: 'forks' as const,
    env: {
      // testcontainers would pull an image to clean up after itself; the container tests stop what they start.
      TESTCONTAINERS_RYUK_DISABLED: 'true',
      // Most of what a process costs that a test starts is compiling the same files again.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'compiled'),
    },
  },
});

const layered = ['property', 'contract', 'integration', 'browser'].map(
  (layer) => `**/*.${layer}.test.ts`,
);

export default defineConfig({
  test: {
    // All cores: by default one is left idle, of two. Long files come first by the order of the projects.
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
      project('browser', ['{services,conformance}/**/*.browser.test.ts'], [], 300),
      project('bench', ['bench/**/*.test.ts'], [], 300),
    ],
  },
});
