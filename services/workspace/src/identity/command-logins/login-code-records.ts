import { collection } from '@keelson/storage';
import { loginCodeShape } from './domain/command-login.ts';

/** Keyed by the hash of the code. */
export const loginCodes = collection('login-codes', {
  scope: 'shared',
  version: 1,
  shape: loginCodeShape,
  owner: [{ kind: 'user', by: 'userId' }],
  index: ['userId'],
});
