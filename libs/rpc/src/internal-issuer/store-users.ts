/**
 * The users with which the services of an installation are admitted to its PostgreSQL and its Redis, by the names that
 * both have in compose and in the trial of Kubernetes.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { ServiceName } from './internal-issuer.ts';

/** Nobody types it. Its characters need no escape in a URL. */
export const createPassword = (): string => randomBytes(32).toString('hex');

/** Gateways count requests; the others elect workers. */
const keysOf = (service: ServiceName): string =>
  service === 'gateway' ? 'keelson:rate:*' : 'keelson:lease:*';
/** INFO is how a client learns that the server has loaded its data. */
const COMMANDS =
  '-@all +@read +@write +@scripting +@transaction +@connection -@admin -@dangerous +info';

/**
 * Access control list of a Redis server: each service with its own password and the keys it has, and nobody else. It
 * holds digests of random passwords, from which nobody finds these.
 */
export const toAccessControlList = (passwords: ReadonlyMap<ServiceName, string>): string =>
  [
    'user default off resetpass resetkeys resetchannels -@all',
    ...Array.from(passwords, ([service, password]) => {
      const digest = createHash('sha256').update(password).digest('hex');
      return `user ${service} on #${digest} ~${keysOf(service)} resetchannels ${COMMANDS}`;
    }),
    '',
  ].join('\n');

/** Settings of a service, for KEELSON_CONFIG_FILE: where its PostgreSQL and its Redis are, with the passwords. */
export const toSettingsFile = (
  service: ServiceName,
  redisPassword: string,
  databasePassword?: string,
): string => {
  const redis = `redis://${service}:${redisPassword}@redis:6379`;
  if (databasePassword === undefined) return `rate_limit_redis_url: ${redis}\n`;
  return `database_url: postgres://${service}:${databasePassword}@postgres/${service}\nredis_url: ${redis}\n`;
};
