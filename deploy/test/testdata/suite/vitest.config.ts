/** The files here are run by the tests of the suite's reporter, with the set-up of the suite. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['*.case.ts'],
    name: 'cases',
    setupFiles: ['../../../../libs/testkit/src/failed-test-logs.ts'],
    reporters: ['../../../../.ci/report.mjs'],
  },
});
