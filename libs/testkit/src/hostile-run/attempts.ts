/** All attempts of a hostile run. */
import type { Attempt } from './attempt.ts';
import { inContainer } from './container.ts';
import { exhaustionAttempts } from './exhaustion.ts';
import { fileAttempts } from './files.ts';
import { kernelAttempts } from './kernel.ts';
import { networkAttempts } from './network.ts';
import { processAttempts } from './processes.ts';
import { secretAttempts } from './secrets.ts';

export const ATTEMPTS: readonly Attempt[] = [
  ...fileAttempts,
  ...processAttempts,
  ...kernelAttempts,
  ...networkAttempts,
  ...secretAttempts,
  ...exhaustionAttempts,
].map(inContainer);
