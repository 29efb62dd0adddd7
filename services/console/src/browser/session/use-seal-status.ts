import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { callSecrets } from '../api/secrets-api.ts';

/** The response of `sys/seal-status` and of `sys/unseal`. */
export interface SealStatus {
  readonly sealed: boolean;
  /** Whether a key file opens the seal, so that shares only authorize what nobody may do alone. */
  readonly recovery_seal: boolean;
  /** Number of shares needed to unseal, and number given so far. */
  readonly t: number;
  readonly progress: number;
}

const EVERY_MS = 3_000;

/** The seal as everybody may see it; other holders of shares may change it at the same time. */
export const useSealStatus = (): UseQueryResult<SealStatus> =>
  useQuery({
    queryKey: ['seal-status'],
    queryFn: ({ signal }) =>
      callSecrets<SealStatus>('GET', 'sys/seal-status', { signal, token: '', namespace: '' }),
    refetchInterval: EVERY_MS,
  });
