import { collection } from '@keelson/storage';
import { runGrantShape } from './domain/run-access.ts';

/**
 * Keyed by `run-…`. The runs module writes a record when an agent claims a phase and deletes it at the end.
 */
export const runGrants = collection('run-grants', {
  scope: 'shared',
  version: 1,
  shape: runGrantShape,
  owner: { kind: 'run', by: '*' },
});
