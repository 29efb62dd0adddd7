import { jsonRecords } from '@keelson/storage';

/** A restoration whose file was verified, and whose pages lie beside the records of each service. */
export interface PendingRestoration {
  readonly restoration: string;
  /** By service: the number of records, and the newest commit that they contain. */
  readonly services: Readonly<
    Record<string, { readonly records: number; readonly sequence: number }>
  >;
}

/** Not encrypted, because it is needed while the keys of the services differ. */
export const pendingRestorations = jsonRecords<PendingRestoration>('node/core/');
export const PENDING_KEY = 'pending-restoration';
