import type { RunFileKind } from './run-records.ts';

/** Where a file of a phase is put and fetched, below /api/v2. */
export const runFilePath = <D extends 'uploads' | 'downloads'>(
  direction: D,
  phaseId: string,
  kind: RunFileKind,
): `/${D}/run-files/${string}` => `/${direction}/run-files/${phaseId}/${kind}`;
