/** Limits of the tokens of a role or user: its `token_…` parameters. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const TOKEN_TYPES = [
  'default',
  'default-service',
  'default-batch',
  'service',
  'batch',
] as const;

/** Durations are in seconds; 0 means that the mount decides. */
export const tokenSettingsShape = Type.Object({
  policies: Type.Array(Type.String()),
  noDefaultPolicy: Type.Boolean(),
  ttlSeconds: Type.Number(),
  maxTtlSeconds: Type.Number(),
  explicitMaxTtlSeconds: Type.Number(),
  periodSeconds: Type.Number(),
  numUses: Type.Number(),
  tokenType: Type.Enum(TOKEN_TYPES),
  boundCidrs: Type.Array(Type.String()),
});
export type TokenSettings = Shaped<typeof tokenSettingsShape>;

export const DEFAULT_TOKEN_SETTINGS: TokenSettings = {
  policies: [],
  noDefaultPolicy: false,
  ttlSeconds: 0,
  maxTtlSeconds: 0,
  explicitMaxTtlSeconds: 0,
  periodSeconds: 0,
  numUses: 0,
  tokenType: 'default',
  boundCidrs: [],
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` naming the settings that contradict each other */
export const requireConsistent = (settings: TokenSettings): TokenSettings => {
  const { ttlSeconds, maxTtlSeconds, tokenType } = settings;
  if (maxTtlSeconds > 0 && ttlSeconds > maxTtlSeconds)
    refuse('token_ttl cannot be greater than token_max_ttl');
  if (settings.policies.includes('root'))
    refuse('token_policies cannot contain "root": auth methods cannot create root tokens');
  if (tokenType !== 'batch' && tokenType !== 'default-batch') return settings;
  const limit = [
    settings.periodSeconds > 0 && 'periodic tokens',
    settings.explicitMaxTtlSeconds > 0 && 'tokens with an explicit max TTL',
    settings.numUses > 0 && 'tokens with limited use count',
  ].find((text) => text !== false);
  return limit === undefined
    ? settings
    : refuse(`'token_type' cannot be '${tokenType}' when set to generate ${limit}`);
};
