import type { JsonObject } from '@keelson/secrets-api';
import type { DirectoryUrls } from './domain/directory.ts';

export interface DirectoryMeta {
  readonly externalAccountRequired: boolean;
  /** Names of roles. */
  readonly profiles: readonly string[];
  /** URL; undefined if there are no terms. */
  readonly termsOfService: string | undefined;
}

/** RFC 8555 §7.1.1, RFC 9773 §4.1, draft-ietf-acme-profiles §3. */
export const directoryDocument = (
  { base }: DirectoryUrls,
  { externalAccountRequired, profiles, termsOfService }: DirectoryMeta,
): JsonObject => ({
  newNonce: `${base}new-nonce`,
  newAccount: `${base}new-account`,
  newOrder: `${base}new-order`,
  revokeCert: `${base}revoke-cert`,
  keyChange: `${base}key-change`,
  renewalInfo: `${base}renewal-info`,
  meta: {
    externalAccountRequired,
    ...(termsOfService !== undefined && { termsOfService }),
    ...(profiles.length > 0 && {
      profiles: Object.fromEntries(
        profiles.map((name) => [name, `What the role "${name}" issues.`]),
      ),
    }),
  },
});
