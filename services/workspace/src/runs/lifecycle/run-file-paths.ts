import type { RunFileKind } from '../model/run-records.ts';

/** Path below /api/v2 at which a file of a phase is uploaded or downloaded. */
export const runFilePath = <D extends 'uploads' | 'downloads'>(
  direction: D,
  phaseId: string,
  kind: RunFileKind,
): `/${D}/run-files/${string}` => `/${direction}/run-files/${phaseId}/${kind}`;
