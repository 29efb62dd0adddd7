import { keyedRecords } from '../../base/keyed-records.ts';
import type { Variable } from './domain/variable.ts';

/** Keyed by `var-…`; the workspace lists the ids of its variables. */
export const variableRecords = keyedRecords<Variable>('shared/variables/');
