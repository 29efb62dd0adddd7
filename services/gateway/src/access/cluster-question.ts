/** Asks sys, for /api/v2, whether the cluster serves requests and which audit devices are enabled. */

import { setImmediate } from 'node:timers/promises';
import { messageOf } from '@keelson/proto/message';
import {
  type AccessDefinition,
  type Resolution,
  ResolveRequest,
  Surface,
} from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';

/** The answer depends on nothing but the cluster. */
export const CLUSTER_QUESTION = messageOf(ResolveRequest, {
  surface: Surface.API_V2,
  path: 'api/v2/ping',
  method: 'GET',
});

/**
 * Requests that arrive in the same turn of the event loop share one question. It is sent after they arrived, so
 * the answer is recent enough for all of them. A replica of sys that does not answer delays no later request.
 */
export const createClusterQuestion = (
  access: Pick<RpcService<typeof AccessDefinition>, 'resolve'>,
): (() => Promise<Resolution>) => {
  let shared: Promise<Resolution> | undefined;
  const ask = async (): Promise<Resolution> => {
    await setImmediate();
    shared = undefined;
    return access.resolve(CLUSTER_QUESTION);
  };
  return () => {
    shared ??= ask();
    return shared;
  };
};
