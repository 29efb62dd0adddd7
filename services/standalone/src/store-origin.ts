/** The cluster and the service to which a store of a data folder belongs. */
import { jsonRecords, type Reads, type Transaction } from '@keelson/storage';
import type { StoreService } from './first-start.ts';

export interface StoreOrigin {
  /** Shared by all stores of one data folder and by no others. */
  readonly id: string;
  readonly service?: StoreService;
}

const origins = jsonRecords<StoreOrigin>('node/core/');
const ORIGIN_KEY = 'origin';

export const findOrigin = (reads: Pick<Reads, 'readAs'>): Promise<StoreOrigin | undefined> =>
  origins.find(reads, ORIGIN_KEY);

export const writeOrigin = (tx: Transaction, origin: StoreOrigin): void =>
  origins.write(tx, ORIGIN_KEY, origin);
