import { keyedRecords } from '../keyed-records.ts';

/** The key that signs URLs; there is one per cluster. */
export const signingKeys = keyedRecords<{ readonly keyBase64: string }>('shared/signing-keys/');
