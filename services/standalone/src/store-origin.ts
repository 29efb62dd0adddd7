/** Identifier shared by all stores of one data folder and by no others. */
import { jsonRecords, type Reads, type Transaction } from '@keelson/storage';

const origins = jsonRecords<{ readonly id: string }>('node/core/');
const ORIGIN_KEY = 'origin';

export const originOf = async (reads: Pick<Reads, 'read'>): Promise<string | undefined> =>
  (await origins.find(reads, ORIGIN_KEY))?.id;

export const writeOrigin = (tx: Transaction, id: string): void =>
  origins.write(tx, ORIGIN_KEY, { id });
