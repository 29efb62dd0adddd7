/**
 * Forwards requests on a performance secondary that write records only the primary may write. The closed
 * write gate refuses the handler before anything is committed, and the whole request is then forwarded to the
 * primary. Its response is returned once the written records can be read here as well.
 */
import {
  bufferedBody,
  type EdgeRequest,
  type EdgeResponse,
  type Route,
  type RouteExchange,
} from '@keelson/edge';
import { hasCode, KeelsonError } from '@keelson/errors';
import { RequestStart, type ResponseHead, ResponseStart } from '@keelson/proto/edge/v1/edge';
import { awaitIndex, INDEX_HEADER, withIndex } from './consistency.ts';
import type { ReplicationMember } from './replication-member.ts';

/**
 * Largest forwarded request. It is held in memory here and, while its parts arrive, on the primary. Larger
 * than the edge's own limit of bodies.
 */
const FORWARDED_BYTES = 64 * 1024 * 1024;
/** Time limit for a primary that is connected but does not answer; a request may have a shorter limit. */
const ANSWER_WITHIN_MS = 30_000;
const APPLY_WITHIN_MS = 2000;
const LATE = 'the write was made on the primary and is not yet visible on this cluster';
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'LIST']);

/** undefined when the body is not a JSON object. */
const parseDocument = (body: Buffer): object | undefined => {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
};

/** Adds warnings in the format of one API. */
export interface WarningLocation {
  /** The response to a request that would otherwise be answered with 204. */
  inPlaceOfNothing(text: string, request: EdgeRequest): EdgeResponse;
  /** The document with one more warning; undefined if this kind of document has no place for warnings. */
  inDocument(document: object, text: string): object | undefined;
}

const withWarning = (
  head: ResponseHead,
  body: Buffer,
  request: EdgeRequest,
  place: WarningLocation,
): EdgeResponse => {
  const headers = head.headers.filter(({ name }) => name !== 'content-length');
  if (head.status === 204) {
    const answer = place.inPlaceOfNothing(LATE, request);
    return { ...answer, head: { ...answer.head, headers: [...answer.head.headers, ...headers] } };
  }
  const document = parseDocument(body);
  const warned = document && place.inDocument(document, LATE);
  return { head: { ...head, headers }, body: warned ? Buffer.from(JSON.stringify(warned)) : body };
};

const forward = async (
  member: ReplicationMember,
  exchange: RouteExchange,
  body: Uint8Array,
  warningLocation: WarningLocation,
): Promise<EdgeResponse> => {
  const { head, timeoutMs = ANSWER_WITHIN_MS } = exchange;
  const run = member.runOf('performance');
  // The cluster follows no primary, or this replica does not act on its new role yet.
  if (run?.role !== 'secondary') throw new KeelsonError('replication.primary_unreachable');
  const withinMs = Math.min(timeoutMs, ANSWER_WITHIN_MS);
  const request = RequestStart.encode({
    head,
    deadlineMs: withinMs,
    body: Buffer.from(body),
    complete: true,
    // The gateways of the primary have shares for their own requests.
    tenant: '',
  }).finish();
  const { response, isApplied } = await run.secondary.forward(request, {
    timeoutMs: withinMs,
    applyWithinMs: APPLY_WITHIN_MS,
  });
  const answer = ResponseStart.decode(response);
  if (answer.head === undefined)
    throw new KeelsonError('replication.malformed', { reason: 'no response' });
  return isApplied || answer.head.status >= 300
    ? { head: answer.head, body: answer.body }
    : withWarning(answer.head, answer.body, exchange, warningLocation);
};

/**
 * Work that is refused although the gate was open when it began coincided with a role change, so that the
 * request may be repeated.
 * @throws KeelsonError `replication.switching` in place of `replication.read_only`
 */
export const retryableAtRoleChange = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!hasCode(error, 'replication.read_only')) throw error;
    throw new KeelsonError('replication.switching', {}, { cause: error });
  }
};

const writeOrForward = async (
  member: ReplicationMember,
  route: Route,
  exchange: RouteExchange,
  warningLocation: WarningLocation,
): Promise<EdgeResponse> => {
  if (member.gate.closed !== 'shared') return retryableAtRoleChange(() => route.handle(exchange));
  const body = await exchange.body.bytes(FORWARDED_BYTES);
  try {
    return await route.handle(exchange.withBody(bufferedBody(body)));
  } catch (error) {
    if (!hasCode(error, 'replication.read_only')) throw error;
    return forward(member, exchange, body, warningLocation);
  }
};

/**
 * Wraps the routes of a service for a performance set: the primary answers writes that this cluster may not
 * make, responses to writes carry a log position, and requests wait for the position they carry.
 * @param warningLocation for writes that the primary made and that cannot be read here yet
 */
export const forwardingRoutes = (
  member: ReplicationMember,
  warningLocation: WarningLocation,
  routes: readonly Route[],
): readonly Route[] =>
  routes.map((route) => {
    const isRead = READS.has(route.method);
    return {
      ...route,
      handle: async (exchange) => {
        const wanted = exchange.head.headers[INDEX_HEADER];
        if (wanted !== undefined) await awaitIndex(member, wanted);
        if (isRead) return route.handle(exchange);
        const response = await writeOrForward(member, route, exchange, warningLocation);
        return member.indexKey === undefined
          ? response
          : withIndex(member, exchange.head, response);
      },
    };
  });
