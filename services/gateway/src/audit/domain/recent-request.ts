/** One recorded exchange in short, without bodies, for administrators who look at the console. */
import type { AuditedAnswer, AuditedExchange } from './audit-entry.ts';

export interface RecentRequest {
  /** RFC 3339; the time of the answer. */
  readonly time: string;
  readonly operation: string;
  /** Path of the namespace; "" is the root. */
  readonly namespace: string;
  readonly path: string;
  readonly status: number;
  /** "" for a request without a token. */
  readonly display_name: string;
  readonly remote_address: string;
}

const MAX_REQUESTS = 50;
/** A path is as long as a caller likes, and the list is kept in memory. */
const MAX_PATH_LENGTH = 200;

export const recentRequest = (
  exchange: AuditedExchange,
  { status }: AuditedAnswer,
  nowMs: number,
): RecentRequest => ({
  time: new Date(nowMs).toISOString(),
  operation: exchange.operation,
  namespace: exchange.namespace.path,
  path: exchange.path.slice(0, MAX_PATH_LENGTH),
  status,
  display_name: exchange.caller?.displayName ?? '',
  remote_address: exchange.remoteAddress,
});

const isRepetition = (a: RecentRequest, b: RecentRequest): boolean =>
  a.path === b.path &&
  a.operation === b.operation &&
  a.status === b.status &&
  a.namespace === b.namespace &&
  a.display_name === b.display_name &&
  a.remote_address === b.remote_address;

/** The newest of several lists, each newest first. */
export const mergeRecent = (
  lists: readonly (readonly RecentRequest[])[],
): readonly RecentRequest[] =>
  lists
    .flat()
    .toSorted((a, b) => (a.time < b.time ? 1 : -1))
    .filter((one, at, all) => all.findIndex((other) => isRepetition(other, one)) === at)
    .slice(0, MAX_REQUESTS);

/**
 * Puts a request before the others. A repeated one, such as those of a page that is watched, is kept once,
 * with its latest time, because it would soon displace all others.
 */
export const withRecent = (
  recent: readonly RecentRequest[],
  latest: RecentRequest,
): readonly RecentRequest[] =>
  [latest, ...recent.filter((one) => !isRepetition(one, latest))].slice(0, MAX_REQUESTS);
