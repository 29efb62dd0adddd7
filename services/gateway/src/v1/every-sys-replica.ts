/** Each replica of sys has a seal of its own, and all of them receive a key share. */
import type { EdgeResponse } from '@keelson/edge';
import type { EveryReplica } from '@keelson/edge/stream';

interface SealStatus {
  readonly sealed?: boolean;
  readonly progress?: number;
}

/** How far a replica is from what the request wants; a refusal is furthest. */
const distance = ({ head, body }: EdgeResponse): number => {
  if (head.status !== 200 || !(body instanceof Uint8Array)) return Number.POSITIVE_INFINITY;
  const { sealed = false, progress = 0 } = JSON.parse(new TextDecoder().decode(body)) as SealStatus;
  return sealed ? Number.MAX_SAFE_INTEGER - progress : 0;
};

export const everySysReplica: EveryReplica = {
  applies: ({ path, method }) => path === '/sys/unseal' && method !== 'GET',
  choose: (responses) =>
    responses.reduce((furthest, one) => (distance(one) > distance(furthest) ? one : furthest)),
};
