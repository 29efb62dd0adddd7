import { singleRecord } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** A restoration whose file is verified and whose pages are staged in the store of each service. */
export const pendingRestorationShape = Type.Object({
  restoration: Type.String(),
  /** Whether another cluster made the snapshot. */
  isForeign: Type.Boolean(),
  /** By service: the number of records, and the newest commit that they contain. */
  services: Type.Record(
    Type.String(),
    Type.Object({ records: Type.Number(), sequence: Type.Number() }),
  ),
});
export type PendingRestoration = Shaped<typeof pendingRestorationShape>;

/** Not encrypted, because it is read while the services have different keys. */
export const pendingRestorations = singleRecord('core/pending-restoration', {
  scope: 'node',
  version: 1,
  shape: pendingRestorationShape,
});
