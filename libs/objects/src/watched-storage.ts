/** An object storage that reports in log, metrics and status whether it can be used. */
import { pause, systemClock } from '@keelson/clock';
import { hasCode, KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import { Counter, Gauge, type MetricsRegistry } from '@keelson/metrics';
import type { ObjectStorage } from './object-storage.ts';

/** Long enough to cost nothing, short enough for the next probe of an orchestrator to see the change. */
const ASK_EVERY_MS = 10_000;

export interface WatchedStorage extends ObjectStorage {
  /** A sentence for operators while the storage cannot be used. */
  impaired(): readonly string[];
  /** Checks the storage at intervals until `signal` aborts, so that the status is current without requests. */
  follow(signal: AbortSignal): Promise<void>;
}

export interface WatchParts {
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
}

/** @param purpose label of the metrics and of the log, such as "contents" */
export const watchStorage = (
  storage: ObjectStorage,
  purpose: string,
  { logger, registry }: WatchParts,
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
  let fault: string | undefined;
  const note = (found: unknown): void => {
    const isDown = hasCode(found, 'objects.unavailable');
    const before = fault;
    fault = isDown ? KeelsonError.from(found).message : undefined;
    up.set(labels, isDown ? 0 : 1);
    const at = { purpose, place: storage.place };
    if (isDown && before === undefined)
      logger.error({ ...at, err: found }, 'the object storage cannot be used');
    if (!isDown && before !== undefined) logger.info(at, 'the object storage can be used again');
  };
  const watched = <Arguments extends readonly unknown[], Result>(
    operation: string,
    work: (...given: Arguments) => Promise<Result>,
  ) => {
    return async (...given: Arguments): Promise<Result> => {
      try {
        const result = await work(...given);
        note(undefined);
        requests.inc({ purpose, operation, outcome: 'answered' });
        return result;
      } catch (error) {
        // A failing source says nothing about the storage.
        if (hasCode(error, 'objects.unavailable')) {
          note(error);
          requests.inc({ purpose, operation, outcome: 'failed' });
        }
        throw error;
      }
    };
  };
  const list = watched('list', storage.list.bind(storage));
  return {
    place: storage.place,
    put: watched('put', storage.put.bind(storage)),
    putStream: watched('put', storage.putStream.bind(storage)),
    get: watched('get', storage.get.bind(storage)),
    getStream: watched('get', storage.getStream.bind(storage)),
    list,
    delete: watched('delete', storage.delete.bind(storage)),
    close: () => storage.close(),
    impaired: () => (fault === undefined ? [] : [`${purpose}: ${fault}`]),
    follow: async (signal) => {
      while (!signal.aborted) {
        await list('', { limit: 1 }).catch(() => undefined);
        await pause(systemClock, ASK_EVERY_MS, signal);
      }
    },
  };
};
