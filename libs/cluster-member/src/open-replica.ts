/**
 * Each replica of sys is sealed by itself. A service that followed a sealed one would refuse requests although the
 * cluster is open, so it looks for an open one first, and from time to time while it finds none.
 */
import type { Clock } from '@keelson/clock';
import type { ClusterDefinition, ClusterState, JoinRequest } from '@keelson/proto/sys/v1/cluster';
import type { CallOptions, RpcService } from '@keelson/rpc';

/** Replicas that are asked, one after the other, before the cluster counts as sealed. */
const ASKED_REPLICAS = 3;
/** Time after which a service that follows a sealed replica asks the others again. */
const ASK_AGAIN_MS = 5000;

type Cluster = RpcService<typeof ClusterDefinition>;

/**
 * @param cluster sends each call to the next replica
 * @returns a cluster that reports a sealed state only where none of the replicas asked is open
 */
export const followingOpenReplica = (cluster: Cluster, clock: Pick<Clock, 'after'>): Cluster => ({
  join: async function* (request, options) {
    let sealedAnswers = 0;
    const isReported = ({ sealed }: ClusterState): boolean => {
      sealedAnswers = sealed ? sealedAnswers + 1 : 0;
      return !sealed || sealedAnswers >= ASKED_REPLICAS;
    };
    while (yield* followOne(cluster, request, { isReported, clock, ...options }));
  },
});

interface Following extends CallOptions {
  readonly isReported: (state: ClusterState) => boolean;
  readonly clock: Pick<Clock, 'after'>;
}

/** The states of one replica. @returns whether another one is to be asked, because this one is sealed */
async function* followOne(
  cluster: Cluster,
  request: JoinRequest,
  { isReported, clock, signal, ...options }: Following,
): AsyncGenerator<ClusterState, boolean> {
  const leaving = new AbortController();
  const either = AbortSignal.any([leaving.signal, ...(signal === undefined ? [] : [signal])]);
  let cancel = (): void => undefined;
  try {
    for await (const state of cluster.join(request, { ...options, signal: either })) {
      cancel();
      if (!isReported(state)) return true;
      yield state;
      if (state.sealed) cancel = clock.after(ASK_AGAIN_MS, () => leaving.abort());
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    cancel();
  }
  return leaving.signal.aborted;
}
