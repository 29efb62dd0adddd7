import { randomBytes } from 'node:crypto';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import type { RpcService } from '@keelson/rpc';
import type { Reads, Store } from '@keelson/storage';
import type { ProviderKeys } from '../providers/provider-keys.ts';
import { ProviderFailure } from '../providers/provider-requests.ts';
import {
  type JwtConfig,
  keySourcesOf,
  requireNoKeysOfRuns,
  requireOneKindOfKeys,
  requireSoundClient,
} from './domain/jwt-config.ts';
import { configSetting } from './jwt-records.ts';

const STATE_KEY_BYTES = 32;

/** The tokens of runs of this installation. */
export type OwnRuns = Pick<
  RpcService<typeof WorkloadIdentityDefinition>,
  'readToken' | 'findPhase'
>;

export interface JwtContext {
  readonly store: Store;
  readonly runs: OwnRuns;
  readonly providerKeys: ProviderKeys;
}

export const findConfig = (reads: Reads, mount: MountScope): Promise<JwtConfig | undefined> =>
  configSetting(mount).find(reads);

const requireKeys = async (
  providerKeys: ProviderKeys,
  mount: MountScope,
  config: JwtConfig,
): Promise<void> => {
  for (const source of keySourcesOf(config))
    try {
      await providerKeys.refresh(mount, source);
    } catch (cause) {
      if (!(cause instanceof ProviderFailure)) throw cause;
      const place = source.kind === 'jwks' ? 'jwks URL' : 'oidc discovery URL';
      throw new KeelsonError(
        'request.invalid',
        { text: `error checking ${place}: ${cause.message}` },
        { cause },
      );
    }
};

/**
 * Replaces the whole configuration once its provider has answered with keys, which are in use from then on.
 * @throws KeelsonError `request.invalid`
 */
export const replaceConfig = async (
  { store, providerKeys }: JwtContext,
  mount: MountScope,
  given: Omit<JwtConfig, 'stateKey'>,
): Promise<void> => {
  const config = { ...given, stateKey: '' };
  await requireKeys(
    providerKeys,
    mount,
    requireSoundClient(requireNoKeysOfRuns(requireOneKindOfKeys(config))),
  );
  const newKey = randomBytes(STATE_KEY_BYTES).toString('base64');
  await store.transact(async (tx) => {
    // Logins that have begun go on.
    const { stateKey = newKey } = (await findConfig(tx, mount)) ?? {};
    configSetting(mount).write(tx, { ...config, stateKey });
  });
};
