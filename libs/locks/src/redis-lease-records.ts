/**
 * Leases in Redis: one key with the holder and an expiry, one without expiry with the newest token. The
 * braces keep both in one slot of a Redis cluster. Each step is one script.
 */
import { KeelsonError } from '@keelson/errors';
import { Redis, type RedisOptions } from 'ioredis';
import type { Acquisition, LeaseRecords } from './lease-records.ts';

/** KEYS lease, token; ARGV holder, ttl ms, token floor. Answers {token} or {false, remaining ms}. */
const ACQUIRE = `
if redis.call('EXISTS', KEYS[1]) == 1 then
  return {false, redis.call('PTTL', KEYS[1])}
end
local time = redis.call('TIME')
local newest = tonumber(redis.call('GET', KEYS[2]) or '0')
local token = math.max(time[1] * 1000000 + time[2], newest + 1, ARGV[3] + 1)
token = string.format('%.0f', token)
redis.call('SET', KEYS[2], token)
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {token}
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
    keelsonAcquireLease(
      lease: string,
      token: string,
      holder: string,
      ttlMs: number,
      tokenFloor: number,
    ): Promise<[string] | [null, number]>;
    keelsonRenewLease(lease: string, holder: string, ttlMs: number): Promise<0 | 1>;
    keelsonReleaseLease(lease: string, holder: string): Promise<0 | 1>;
  }
}

const COMMAND_TIMEOUT_MS = 2000;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_RECONNECT_DELAY_MS = 1000;

const leaseKey = (name: string): string => `keelson:lease:{${name}}`;
const tokenKey = (name: string): string => `keelson:lease-token:{${name}}`;

/** A replica that was a primary, or the reverse: the address leads to another server by now. */
const isFailover = (error: Error): boolean =>
  /^(READONLY|LOADING|MASTERDOWN)\b/.test(error.message);

/** Options of ioredis; `url` goes before host and port. */
export type RedisConnection = Omit<RedisOptions, 'replyMapping'> & { readonly url?: string };

export class RedisLeaseRecords implements LeaseRecords {
  readonly #redis: Redis;
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly #firstAttempt = Promise.withResolvers<void>();

  constructor({ url, ...options }: RedisConnection) {
    const settings: RedisConnection = {
      protocol: 2,
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: COMMAND_TIMEOUT_MS,
      // While there is no connection a command fails at once instead of waiting for one.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_DELAY_MS),
      reconnectOnError: (error) => isFailover(error),
      scripts: {
        keelsonAcquireLease: { lua: ACQUIRE, numberOfKeys: 2 },
        keelsonRenewLease: { lua: RENEW, numberOfKeys: 1 },
        keelsonReleaseLease: { lua: RELEASE, numberOfKeys: 1 },
      },
      ...options,
    };
    this.#redis = url === undefined ? new Redis(settings) : new Redis(url, settings);
    const settle = (): void => this.#firstAttempt.resolve();
    this.#redis.once('ready', settle);
    this.#redis.once('close', settle);
    // Each failure also rejects the commands it concerns.
    this.#redis.on('error', () => undefined);
  }

  async acquire(
    name: string,
    holder: string,
    ttlMs: number,
    tokenFloor: number,
  ): Promise<Acquisition> {
    const [token, remainingMs] = await this.#run(() =>
      this.#redis.keelsonAcquireLease(leaseKey(name), tokenKey(name), holder, ttlMs, tokenFloor),
    );
    return token === null
      ? { kind: 'held', remainingMs: remainingMs ?? 0 }
      : { kind: 'acquired', fencingToken: Number(token) };
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
