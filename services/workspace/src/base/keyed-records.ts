/** Record collections whose keys come from requests. */
import { jsonRecords, type ReadonlyDeep, type RecordCollection } from '@keelson/storage';

export const keyedRecords = <T>(prefix: string): RecordCollection<ReadonlyDeep<T>> =>
  jsonRecords<T>(prefix, 'names');
