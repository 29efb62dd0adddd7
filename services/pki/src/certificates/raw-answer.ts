/** Answers that are bytes of a type of their own. */
import { type FinalAnswer, rawResponse } from '@keelson/secrets-api';
import type { Authority } from '../issuers/domain/authority.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import type { MountScope } from '../mounts/mount-records.ts';

const NOTHING = new Uint8Array(0);

/** Whether what an answer was made of is unchanged. Lives on with the answer, so it holds no keys. */
type Stands = () => Promise<boolean>;

/** True while a mount has this very authority. */
export const whileInForce = (
  authorities: Authorities,
  mount: MountScope,
  authority: Authority,
): Stands => {
  const held = new WeakRef(authority);
  return async () => (await authorities.of(mount)) === held.deref();
};

/** Bytes of a type; nothing to show is 204 on these paths. */
export const rawAnswer = (
  contentType: string,
  content: Uint8Array | string | undefined,
  headers: Readonly<Record<string, string>> = {},
  stands?: Stands,
): FinalAnswer =>
  content === undefined
    ? rawResponse(204, '', NOTHING)
    : rawResponse(
        200,
        contentType,
        typeof content === 'string' ? Buffer.from(content) : content,
        headers,
        stands,
      );

/** What a request says of the state it has, and when it is asked. */
export interface Freshness {
  readonly headers: Readonly<Record<string, string>>;
  readonly nowMs: number;
  /** Of an answer that shows when it was modified; one that does not will do so later. */
  readonly stands?: Stands;
}

/**
 * The `Last-Modified` of something that was changed at this time: the end of that second, so that all
 * changes of a second are older than what clients got after it. undefined: not known, or the second is
 * not over.
 */
const lastModifiedMs = (modifiedAtMs: number | undefined, nowMs: number): number | undefined => {
  if (modifiedAtMs === undefined) return undefined;
  const endMs = (Math.floor(modifiedAtMs / 1000) + 1) * 1000;
  return endMs <= nowMs ? endMs : undefined;
};

/** 304 where the client has this state already (RFC 9110 §13.1.3), else undefined. */
export const unmodifiedAnswer = (
  { headers, nowMs }: Freshness,
  modifiedAtMs: number | undefined,
): FinalAnswer | undefined => {
  const lastMs = lastModifiedMs(modifiedAtMs, nowMs);
  const sinceMs = Date.parse(headers['if-modified-since'] ?? '');
  return lastMs !== undefined && lastMs <= sinceMs
    ? rawResponse(304, '', NOTHING, { 'last-modified': new Date(lastMs).toUTCString() })
    : undefined;
};

/** Bytes of a type, or 304 where the client has them already. */
export const rawUnlessUnmodified = async (
  freshness: Freshness,
  modifiedAtMs: number | undefined,
  contentType: string,
  content: () => Uint8Array | string | Promise<Uint8Array>,
): Promise<FinalAnswer> => {
  const unmodified = unmodifiedAnswer(freshness, modifiedAtMs);
  if (unmodified !== undefined) return unmodified;
  const lastMs = lastModifiedMs(modifiedAtMs, freshness.nowMs);
  return rawAnswer(
    contentType,
    await content(),
    lastMs === undefined ? {} : { 'last-modified': new Date(lastMs).toUTCString() },
    lastMs === undefined ? undefined : freshness.stands,
  );
};
