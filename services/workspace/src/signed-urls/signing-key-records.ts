import { keyedRecords } from '../records/keyed-records.ts';

/** The key of signed addresses, of which there is one. */
export const signingKeys = keyedRecords<{ readonly keyBase64: string }>('shared/signing-keys/');
