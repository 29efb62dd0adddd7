/**
 * Read-your-writes consistency across clusters: the answer to a write carries the log position of the
 * service, and a request with that position is served once this cluster has applied the log up to it.
 */
import type { EdgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { Dialect, type RequestHead } from '@keelson/proto/edge/v1/edge';
import { type LogIndex, openIndex, sealIndex } from './log-index.ts';
import type { ReplicationMember } from './replication-member.ts';

/** The header names inside a cluster; the gateway maps the names that clients use to them. */
export const INDEX_HEADER = 'x-service-index';
const VENDOR_INDEX_HEADER = 'x-vault-index';
const REACH_WITHIN_MS = 2000;
/** Limit on the indices in one header; clients merge two or three. */
const MAX_INDICES = 8;

const indicesIn = (key: Uint8Array, header: string): readonly LogIndex[] =>
  header
    .split(',', MAX_INDICES)
    .map((one) => openIndex(key, one.trim()))
    .filter((index) => index !== undefined);

/**
 * Waits until the log entries that the header names can be read here. Indices of other services, and of logs
 * that this cluster knows to have ended, are ignored.
 * @throws KeelsonError `replication.index_missing`
 */
export const awaitIndex = async (member: ReplicationMember, header: string): Promise<void> => {
  const key = member.indexKey;
  if (key === undefined) return;
  for (const { logId, replicated: sequence } of indicesIn(key, header))
    if (!(await member.reaches({ logId, sequence }, REACH_WITHIN_MS)))
      throw new KeelsonError('replication.index_missing');
};

/** The response to a write, with the position of the log that contains it. */
export const withIndex = async (
  member: ReplicationMember,
  { dialect }: RequestHead,
  response: EdgeResponse,
): Promise<EdgeResponse> => {
  const key = member.indexKey;
  const { head } = response;
  if (key === undefined || head.status >= 400) return response;
  // A forwarded write already carries the index of the primary.
  if (head.headers.some(({ name }) => name === INDEX_HEADER)) return response;
  const index = await member.index();
  if (index === undefined) return response;
  const value = sealIndex(key, index);
  const headers = [...head.headers, { name: INDEX_HEADER, value }];
  if (dialect === Dialect.VENDOR) headers.push({ name: VENDOR_INDEX_HEADER, value });
  return { ...response, head: { ...head, headers } };
};
