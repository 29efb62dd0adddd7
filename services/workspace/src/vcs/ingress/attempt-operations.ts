/**
 * Attempts at work that could end the process which makes them: each is counted before it begins, so that work
 * whose end nobody reports, because its worker or this process has died, is given up.
 */
import { RepositoryFailure } from '@keelson/repositories';
import type { Transaction, TransactOptions } from '@keelson/storage';
import { MAX_DEATHS } from '@keelson/supervisor';
import { unendedAttempts } from '../../workspaces/model/repository-attempt-records.ts';
import { type WorkKey, workNameOf } from '../../workspaces/model/repository-records.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import type { FetchWork } from './ingress-operations.ts';

/** Stores that an attempt begins. @throws RepositoryFailure after as many attempts whose end nobody reported */
export const beginAttempt = async (
  { store, workerCounters }: VcsContext,
  key: WorkKey,
  { deliveryKey }: FetchWork,
  options: TransactOptions,
): Promise<void> => {
  const [organizationId] = key;
  const name = workNameOf(key);
  const deaths = await store.transact(async (tx) => {
    const stored = await unendedAttempts.find(tx, organizationId, name);
    // A newer event under this name is other work.
    const counted = stored?.deliveryKey === deliveryKey ? stored.deaths : 0;
    if (counted < MAX_DEATHS)
      unendedAttempts.write(tx, [organizationId, name], { deliveryKey, deaths: counted + 1 });
    return counted;
  }, options);
  if (deaths < MAX_DEATHS) return;
  workerCounters.givenUp.inc();
  throw new RepositoryFailure(
    `it was given up after ${deaths} attempts, each of which ended the process that made it`,
    { isFinal: true },
  );
};

/** Takes the count back: the end of the attempt was reported, or the work is given up. */
export const endAttempt = (tx: Transaction, key: WorkKey): void =>
  unendedAttempts.delete(tx, key[0], workNameOf(key));
