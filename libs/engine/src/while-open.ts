import type { EdgeService } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Barrier } from '@keelson/storage';

/**
 * Does the work unless the barrier is sealed: cached records must not outlive the key, and mounts are not known before
 * it is open.
 * @throws KeelsonError `sys.sealed`, so that another replica is asked
 */
export const whileOpen = async <T>(barrier: Barrier, work: () => Promise<T>): Promise<T> => {
  if (barrier.isSealed) throw new KeelsonError('sys.sealed');
  return work();
};

/** A service that answers and is healthy only while the barrier is open. */
export const edgeWhileOpen = (edge: EdgeService, barrier: Barrier): EdgeService => ({
  ...edge,
  handle: (request) => whileOpen(barrier, () => edge.handle(request)),
  check: () => whileOpen(barrier, () => edge.check()),
});
