import { queryOptions, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { parsedBody, request } from '../api/api-problem.ts';
import { useWatch } from '../api/live-channel.ts';
import { useSession } from '../api/session.ts';
import type { ClusterHealth } from './cluster-health.ts';

const EVERY_MS = 5_000;

/** Requests the health with parameters that make every state answer 200. */
const readHealth = async (signal: AbortSignal): Promise<ClusterHealth> => {
  const codes = ['uninitcode', 'sealedcode', 'incompletecode', 'drsecondarycode'].map(
    (name) => `${name}=200`,
  );
  const answer = await request(`/v1/sys/health?${codes.join('&')}`, { signal });
  return (await parsedBody(answer)) as ClusterHealth;
};

export const HEALTH = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => readHealth(signal),
});

/** The live channel reports the seal; without it the health is read every few seconds. */
export const useHealth = (): UseQueryResult<ClusterHealth> => {
  const client = useQueryClient();
  const { secrets } = useSession();
  const isReported = useWatch(
    secrets === undefined ? undefined : '/v1/sys/seal-status',
    () => void client.invalidateQueries({ queryKey: HEALTH.queryKey }),
  );
  return useQuery({ ...HEALTH, refetchInterval: !isReported && EVERY_MS });
};
