/** Leases in Redis: one key each, with the holder and an expiry. Each step is one script. */
import { KeelsonError } from '@keelson/errors';
import { Redis } from 'ioredis';
import type { Acquisition, LeaseRecords } from './lease-records.ts';
import type { RedisConnection } from './redis-connection.ts';

/**
 * KEYS lease; ARGV holder, ttl ms. Returns nil if the lease is now held, otherwise the remaining milliseconds
 * of the other holder.
 */
const ACQUIRE = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return nil end
return redis.call('PTTL', KEYS[1])
`;

/** KEYS lease; ARGV holder, ttl ms. */
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/** KEYS lease; ARGV holder. */
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`;

declare module 'ioredis' {
  interface RedisCommander {
    keelsonAcquireLease(lease: string, holder: string, ttlMs: number): Promise<number | null>;
    keelsonRenewLease(lease: string, holder: string, ttlMs: number): Promise<0 | 1>;
    keelsonReleaseLease(lease: string, holder: string): Promise<0 | 1>;
  }
}

const COMMAND_TIMEOUT_MS = 2000;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_RECONNECT_DELAY_MS = 1000;

const leaseKey = (name: string): string => `keelson:lease:${name}`;

/** The server became a replica, or the reverse: the address now leads to another server. */
const isFailover = (error: Error): boolean =>
  /^(READONLY|LOADING|MASTERDOWN)\b/.test(error.message);

export class RedisLeaseRecords implements LeaseRecords {
  readonly #redis: Redis;
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly #firstAttempt = Promise.withResolvers<void>();
  #wasReachable: boolean | undefined;
  #isClosed = false;

  /** @param onReachable called when Redis can be reached, and when it no longer can */
  constructor(
    { url, ...options }: RedisConnection,
    onReachable: (isReachable: boolean) => void = () => undefined,
  ) {
    const settings: RedisConnection = {
      protocol: 2,
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: COMMAND_TIMEOUT_MS,
      // Without a connection, a command fails at once instead of being queued.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_DELAY_MS),
      reconnectOnError: (error) => isFailover(error),
      scripts: {
        keelsonAcquireLease: { lua: ACQUIRE, numberOfKeys: 1 },
        keelsonRenewLease: { lua: RENEW, numberOfKeys: 1 },
        keelsonReleaseLease: { lua: RELEASE, numberOfKeys: 1 },
      },
      ...options,
    };
    this.#redis = url === undefined ? new Redis(settings) : new Redis(url, settings);
    const note = (isReachable: boolean) => (): void => {
      this.#firstAttempt.resolve();
      if (this.#wasReachable === isReachable || this.#isClosed) return;
      this.#wasReachable = isReachable;
      onReachable(isReachable);
    };
    this.#redis.on('ready', note(true));
    this.#redis.on('close', note(false));
    // Each failure also rejects the commands it concerns.
    this.#redis.on('error', () => undefined);
  }

  get isReachable(): boolean {
    return this.#wasReachable !== false;
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Acquisition> {
    const remainingMs = await this.#run(() =>
      this.#redis.keelsonAcquireLease(leaseKey(name), holder, ttlMs),
    );
    return remainingMs === null ? { kind: 'acquired' } : { kind: 'held', remainingMs };
  }

  async renew(name: string, holder: string, ttlMs: number): Promise<boolean> {
    const renewed = await this.#run(() =>
      this.#redis.keelsonRenewLease(leaseKey(name), holder, ttlMs),
    );
    return renewed === 1;
  }

  async release(name: string, holder: string): Promise<void> {
    await this.#run(() => this.#redis.keelsonReleaseLease(leaseKey(name), holder));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#redis.disconnect();
    this.#firstAttempt.resolve();
  }

  /** @throws KeelsonError `lock.unavailable` */
  async #run<T>(command: () => Promise<T>): Promise<T> {
    await this.#firstAttempt.promise;
    try {
      return await command();
    } catch (error) {
      throw new KeelsonError('lock.unavailable', {}, { cause: error });
    }
  }
}
