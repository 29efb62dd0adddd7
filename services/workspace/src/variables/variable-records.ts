import { keyedRecords } from '../records/keyed-records.ts';
import type { Variable } from './domain/variable.ts';

/** Keyed by `var-…`; the workspace names its variables. */
export const variableRecords = keyedRecords<Variable>('shared/variables/');
