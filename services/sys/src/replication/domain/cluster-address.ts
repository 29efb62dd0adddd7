/** Addresses of clusters, which the status shows to anyone. */
import { KeelsonError } from '@keelson/errors';

/** The part of an address before "@": a user, a password, a token. */
const USER_INFORMATION = /^(?:[a-z][a-z\d+.-]*:\/\/)?[^/]*@/i;

/** @throws KeelsonError `request.invalid` for an address with a user, password or token in it */
export const requireNoCredentials = (parameter: string, addresses: readonly string[]): void => {
  if (addresses.some((address) => USER_INFORMATION.test(address)))
    throw new KeelsonError('request.invalid', {
      text: `${parameter} must not contain a user, password or token, because the status of replication shows addresses (docs/replication.md names the settings for credentials)`,
    });
};
