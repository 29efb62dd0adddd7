/** Roles of `identity/oidc/role`: what a token that its holder asks for is signed with, and has in it. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { NamedKey } from './named-key.ts';

export const identityRoleShape = Type.Object({
  key: Type.String(),
  template: Type.String(),
  /** The audience of its tokens. */
  clientId: Type.String(),
  ttlSeconds: Type.Number(),
});
export type IdentityRole = Shaped<typeof identityRoleShape>;

/** Undefined values remain unchanged, or are the default of a new role. */
export interface RoleChanges {
  readonly key: string | undefined;
  readonly template: string | undefined;
  readonly client_id: string | undefined;
  readonly ttl: number | undefined;
}

const DEFAULT_TTL_SECONDS = 86_400;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @param newClientId for a role that has none */
export const changedRole = (
  before: IdentityRole | undefined,
  { key, template, client_id, ttl }: RoleChanges,
  newClientId: string,
): IdentityRole => ({
  key: (key ?? before?.key) || refuse('the key parameter is required'),
  template: template ?? before?.template ?? '',
  clientId: client_id || before?.clientId || newClientId,
  ttlSeconds: ttl ?? before?.ttlSeconds ?? DEFAULT_TTL_SECONDS,
});

/**
 * @param what of which the lifetime is
 * @throws KeelsonError `request.invalid` for a token that would outlive the key that verifies it
 */
export const requireVerifiable = (
  what: string,
  ttlSeconds: number,
  { verificationSeconds }: NamedKey,
): void => {
  if (ttlSeconds < 1) refuse(`${what} has at least one second`);
  if (ttlSeconds > verificationSeconds)
    refuse(`${what} cannot be longer than the verification_ttl of the key it references`);
};
