import { keyedRecords } from '../../base/keyed-records.ts';
import type { RunGrant } from './domain/run-access.ts';

/**
 * Keyed by `run-…`. The runs module writes a record when an agent claims a phase and deletes it at the end.
 */
export const runGrants = keyedRecords<RunGrant>('shared/run-grants/');
