import { jsonRecords } from '@keelson/storage';

/** A restoration whose file is verified and whose pages are staged in the store of each service. */
export interface PendingRestoration {
  readonly restoration: string;
  /** Whether another cluster made the snapshot. */
  readonly isForeign: boolean;
  /** By service: the number of records, and the newest commit that they contain. */
  readonly services: Readonly<
    Record<string, { readonly records: number; readonly sequence: number }>
  >;
}

/** Not encrypted, because it is read while the services have different keys. */
export const pendingRestorations = jsonRecords<PendingRestoration>('node/core/');
export const PENDING_KEY = 'pending-restoration';
