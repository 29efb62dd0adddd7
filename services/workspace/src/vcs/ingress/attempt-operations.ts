/**
 * Attempts at work that could end the process which makes them: each is counted before it begins, so that work
 * whose end nobody reports, because its worker or this process has died, is given up.
 */
import { RepositoryFailure } from '@keelson/repositories';
import type { Transaction, TransactOptions } from '@keelson/storage';
import { MAX_DEATHS } from '@keelson/supervisor';
import { unendedAttempts } from '../../workspaces/model/repository-attempt-records.ts';
import { type WorkKey, workNameOf } from '../../workspaces/model/repository-records.ts';
import type { FetchWork } from '../model/waiting-fetches.ts';
import type { VcsContext } from '../seams/vcs-context.ts';

/** Work by its organization and its name, wherever it is queued. */
type NamedWork = readonly [organizationId: string, name: string];

/**
 * Stores that an attempt begins.
 * @returns why it must not begin, after as many attempts whose end nobody reported
 */
export const countAttempt = async (
  tx: Transaction,
  { workerCounters }: VcsContext,
  place: NamedWork,
  { deliveryKey }: FetchWork,
): Promise<RepositoryFailure | undefined> => {
  const stored = await unendedAttempts.find(tx, ...place);
  // A newer event under this name is other work.
  const deaths = stored?.deliveryKey === deliveryKey ? stored.deaths : 0;
  if (deaths < MAX_DEATHS) {
    unendedAttempts.write(tx, place, { deliveryKey, deaths: deaths + 1 });
    return undefined;
  }
  workerCounters.givenUp.inc();
  return new RepositoryFailure(
    `it was given up after ${deaths} attempts, each of which ended the process that made it`,
    { isFinal: true },
  );
};

/** Stores that an attempt begins. @throws RepositoryFailure after as many attempts whose end nobody reported */
export const beginAttempt = async (
  context: VcsContext,
  key: WorkKey,
  work: FetchWork,
  options: TransactOptions,
): Promise<void> => {
  const place: NamedWork = [key[0], workNameOf(key)];
  const refusal = await context.store.transact(
    (tx) => countAttempt(tx, context, place, work),
    options,
  );
  if (refusal !== undefined) throw refusal;
};

/** Takes the count back: the end of the attempt was reported, or the work is given up. */
export const endAttempt = (tx: Transaction, ...place: NamedWork): void =>
  unendedAttempts.delete(tx, ...place);
