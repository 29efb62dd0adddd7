/**
 * Log position of a service when it answered a request, which clients carry from one cluster to another
 * (X-Service-Index): base64 of `v1:<log id>:<local>:<replicated>:<HMAC-SHA256, hex>`. The clusters
 * of a set share one key per service, so an index of another service does not verify here.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface LogIndex {
  /** Id of the primary's log. */
  readonly logId: string;
  /** Newest entry of the cluster that answered. */
  readonly local: number;
  /** Newest entry of the primary's log that was applied there. */
  readonly replicated: number;
}

const VERSION = 'v1';
const MAX_LENGTH = 512;

const macOf = (key: Uint8Array, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex');

export const sealIndex = (key: Uint8Array, { logId, local, replicated }: LogIndex): string => {
  const text = [VERSION, logId, local, replicated].join(':');
  return Buffer.from(`${text}:${macOf(key, text)}`).toString('base64');
};

/** Verifies and parses an index; undefined if it belongs to another service. */
export const openIndex = (key: Uint8Array, given: string): LogIndex | undefined => {
  if (given.length > MAX_LENGTH) return undefined;
  const parts = Buffer.from(given, 'base64').toString().split(':');
  const [version, logId = '', local = '', replicated = '', mac = ''] = parts;
  if (parts.length !== 5 || version !== VERSION) return undefined;
  const expected = Buffer.from(macOf(key, parts.slice(0, -1).join(':')));
  const actual = Buffer.from(mac);
  return actual.length === expected.length && timingSafeEqual(actual, expected)
    ? { logId, local: Number(local), replicated: Number(replicated) }
    : undefined;
};
