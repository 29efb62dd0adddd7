import { collection } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

const workloadKeyShape = Type.Object({
  /** Its id in the key set. */
  kid: Type.String(),
  /** PKCS #8, PEM. */
  privateKey: Type.String(),
  createdAtMs: Type.Number(),
});
export type WorkloadKey = Shaped<typeof workloadKeyShape>;

/** The keys that sign the tokens of runs; there is one record per cluster. */
export const workloadKeys = collection('workload-keys', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ keys: Type.Array(workloadKeyShape) }),
});
