/** The files here are run by the tests of the suite's reporter. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['*.case.ts'], name: 'cases', reporters: ['../../../../.ci/report.mjs'] },
});
