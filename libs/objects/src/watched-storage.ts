/** An object storage that reports in log, metrics and status whether it can be used. */
import { type Clock, pause } from '@keelson/clock';
import { hasCode, KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import { Counter, Gauge, type MetricsRegistry } from '@keelson/metrics';
import type { ObjectStorage } from './object-storage.ts';

/** Long enough to cost nothing, short enough for the next probe of an orchestrator to see the change. */
const ASK_EVERY_MS = 10_000;

/** Kinds of requests. A storage may refuse one and answer the others, as a full disk or a policy does. */
type Operation = 'put' | 'get' | 'list' | 'delete';

/** Outside of all prefixes; exists for a moment while writing is tried after a fault. */
const TRIED_KEY = 'write-test';

export interface WatchedStorage extends ObjectStorage {
  /** A sentence for operators while the storage cannot be used. */
  impaired(): readonly string[];
  /**
   * Checks the storage at intervals until `signal` aborts, so that the status is current without requests: always
   * whether it can be listed, and each kind of request that failed last.
   */
  follow(signal: AbortSignal): Promise<void>;
}

export interface WatchParts {
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
  /** Clock of the intervals. */
  readonly clock: Clock;
}

/** @param purpose label of the metrics and of the log, such as "contents" */
export const watchStorage = (
  storage: ObjectStorage,
  purpose: string,
  { logger, registry, clock }: WatchParts,
): WatchedStorage => {
  const labels = { purpose };
  const metric = <M extends Gauge | Counter>(
    Kind: new (options: { name: string; help: string; labelNames: string[] }) => M,
    name: string,
    help: string,
    labelNames: readonly string[],
  ): M => {
    const known = registry.getSingleMetric(name);
    if (known !== undefined) return known as M;
    const made = new Kind({
      name,
      help,
      labelNames: ['purpose', ...labelNames],
      registers: [registry],
    } as never);
    return made;
  };
  const up = metric(
    Gauge,
    'keelson_object_storage_up',
    'Whether the object storage could be used last.',
    [],
  );
  const requests = metric(
    Counter,
    'keelson_object_storage_requests_total',
    'Requests to the object storage, by outcome.',
    ['operation', 'outcome'],
  );
  up.set(labels, 1);
  /** The faults of the latest request of each kind, which only an answer to the same kind ends. */
  const faults = new Map<Operation, string>();
  const failed = (operation: Operation, error: unknown): void => {
    if (faults.size === 0)
      logger.error(
        { purpose, place: storage.place, operation, err: error },
        'the object storage cannot be used',
      );
    faults.set(operation, KeelsonError.from(error).message);
    up.set(labels, 0);
  };
  const answered = (operation: Operation): void => {
    if (!faults.delete(operation) || faults.size > 0) return;
    up.set(labels, 1);
    logger.info({ purpose, place: storage.place }, 'the object storage can be used again');
  };
  const watched = <Arguments extends readonly unknown[], Result>(
    operation: Operation,
    work: (...given: Arguments) => Promise<Result>,
  ) => {
    return async (...given: Arguments): Promise<Result> => {
      try {
        const result = await work(...given);
        answered(operation);
        requests.inc({ purpose, operation, outcome: 'answered' });
        return result;
      } catch (error) {
        // A failing source says nothing about the storage.
        if (hasCode(error, 'objects.unavailable')) {
          failed(operation, error);
          requests.inc({ purpose, operation, outcome: 'failed' });
        }
        throw error;
      }
    };
  };
  const own: ObjectStorage = {
    place: storage.place,
    put: watched('put', storage.put.bind(storage)),
    putStream: watched('put', storage.putStream.bind(storage)),
    get: watched('get', storage.get.bind(storage)),
    getStream: watched('get', storage.getStream.bind(storage)),
    list: watched('list', storage.list.bind(storage)),
    delete: watched('delete', storage.delete.bind(storage)),
    close: () => storage.close(),
  };
  const tryAgain = async (): Promise<void> => {
    await own.list('', { limit: 1 });
    if (faults.has('get')) await own.get(TRIED_KEY);
    if (faults.has('put')) await own.put(TRIED_KEY, new Uint8Array(0));
    else if (!faults.has('delete')) return;
    await own.delete([TRIED_KEY]);
  };
  return {
    ...own,
    impaired: () => [...faults.values()].slice(0, 1).map((fault) => `${purpose}: ${fault}`),
    follow: async (signal) => {
      while (!signal.aborted) {
        await tryAgain().catch(() => undefined);
        await pause(clock, ASK_EVERY_MS, signal);
      }
    },
  };
};
