import type { RedisConnection } from './redis-connection.ts';
import { RedisLeaseRecords } from './redis-lease-records.ts';
import { type LeaseStoreOptions, RenewingLeaseStore } from './renewing-lease-store.ts';

export { type RedisAddress, toRedisConnection } from './redis-connection.ts';

export interface RedisLeaseStoreOptions extends LeaseStoreOptions {
  /** A URL ("redis://", "rediss://") or ioredis options, including sentinels. */
  readonly connection: string | RedisConnection;
  /** Called when Redis can be reached, and when it no longer can. */
  readonly onReachable?: (isReachable: boolean) => void;
}

/**
 * Leases between processes. Connects at once and again whenever the connection is lost. Without a connection,
 * `tryAcquire` fails with `lock.unavailable` and `acquire` waits.
 */
export class RedisLeaseStore extends RenewingLeaseStore {
  constructor(options: RedisLeaseStoreOptions) {
    const { connection } = options;
    super(
      new RedisLeaseRecords(
        typeof connection === 'string' ? { url: connection } : connection,
        options.onReachable,
      ),
      options,
    );
  }
}
