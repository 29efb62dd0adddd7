import { readFileSync } from 'node:fs';
import type { RedisOptions } from 'ioredis';

/** Options of ioredis; `url` has precedence over host and port. */
export type RedisConnection = Omit<RedisOptions, 'replyMapping'> & { readonly url?: string };

export interface RedisAddress {
  /** "redis://", "rediss://". Behind sentinels, its host is the name of the master group. */
  readonly redisUrl: string;
  /** host:port of each. */
  readonly redisSentinels: readonly string[];
  readonly redisSentinelPassword?: string | undefined;
  /** Authorities of the certificates; connections then use TLS. */
  readonly redisAuthorityFile?: string | undefined;
}

const toPlace = (address: string): { host: string; port: number } => {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replaceAll(/[[\]]/g, '');
  return { host, port: Number(address.slice(colon + 1)) };
};

/** How ioredis reaches the server itself, or the master that sentinels name. */
export const toRedisConnection = ({
  redisUrl: url,
  redisSentinels,
  redisSentinelPassword: sentinelPassword,
  redisAuthorityFile,
}: RedisAddress): RedisConnection & { readonly url: string } => {
  const ca =
    redisAuthorityFile === undefined ? {} : { ca: readFileSync(redisAuthorityFile, 'utf8') };
  const hasTls = redisAuthorityFile !== undefined || url.startsWith('rediss:');
  if (redisSentinels.length === 0) return { url, ...(hasTls && { tls: ca }) };
  return {
    url,
    name: new URL(url).hostname,
    sentinels: redisSentinels.map(toPlace),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(hasTls && { tls: ca, enableTLSForSentinelMode: true, sentinelTLS: ca }),
  };
};
