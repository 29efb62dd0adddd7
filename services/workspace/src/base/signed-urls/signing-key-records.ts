import { collection } from '@keelson/storage';
import { Type } from 'typebox';

/** The key that signs URLs; there is one per cluster. */
export const signingKeys = collection('signing-keys', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ keyBase64: Type.String() }),
});
