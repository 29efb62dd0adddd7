/** Verifies tokens with the keys of a mount. */
import type { MountScope } from '@keelson/engine';
import type { Claims } from '../providers/domain/claims.ts';
import { fixedKeysOf } from '../providers/fixed-keys.ts';
import type { ProviderKeys } from '../providers/provider-keys.ts';
import { ProviderFailure } from '../providers/provider-requests.ts';
import { type CollectedKeys, verifySignature } from '../providers/signed-token.ts';
import type { JwtContext, OwnRuns } from './config-operations.ts';
import { algorithmsOf, type JwtConfig, keySourcesOf } from './domain/jwt-config.ts';

/** The keys of all places; a provider that is away matters only if no other one has signed the token. */
const collectKeys = async (
  mount: MountScope,
  config: JwtConfig,
  providerKeys: ProviderKeys,
  kid: string | undefined,
): Promise<CollectedKeys> => {
  const fetched = await Promise.all(
    keySourcesOf(config).map(async (source) => {
      try {
        return await providerKeys.keysWith(mount, source, kid);
      } catch (error) {
        if (error instanceof ProviderFailure) return undefined;
        throw error;
      }
    }),
  );
  return {
    keys: [...fixedKeysOf(config.validationPubkeys), ...fetched.flatMap((keys) => keys ?? [])],
    areComplete: !fetched.includes(undefined),
  };
};

/** A token of a run says which phase it is for, and the service that has signed it whether that is at work. */
const readOfRun = async (runs: OwnRuns, token: string): Promise<Claims> =>
  JSON.parse((await runs.readToken({ token })).claimsJson) as Claims;

/** The claims of a token that a key of the mount has signed. @throws KeelsonError `request.invalid` */
export const verifyToken = (
  { runs, providerKeys }: Pick<JwtContext, 'runs' | 'providerKeys'>,
  mount: MountScope,
  config: JwtConfig,
  token: string,
): Promise<Claims> => {
  if (config.acceptsOwnRuns === true) return readOfRun(runs, token);
  return verifySignature(token, algorithmsOf(config), (kid) =>
    collectKeys(mount, config, providerKeys, kid),
  );
};
