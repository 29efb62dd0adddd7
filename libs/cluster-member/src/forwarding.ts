/**
 * Requests on a performance secondary that write what only the primary may write: the handler meets the
 * closed gate before anything is committed, and the whole request goes to the primary, which answers.
 * The answer is given once what was written can be read here, too.
 */
import {
  bufferedBody,
  type EdgeResponse,
  type EdgeService,
  edgeResponse,
  type Route,
  type RouteExchange,
} from '@keelson/edge';
import { hasCode, KeelsonError } from '@keelson/errors';
import { type RequestHead, RequestStart, ResponseStart } from '@keelson/proto/edge/v1/edge';
import { mountGroup, namespaceGroup } from '@keelson/replication';
import { awaitIndex, INDEX_HEADER, withIndex } from './consistency.ts';
import type { ReplicationMember } from './replication-member.ts';
import type { MayReach } from './replication-runs.ts';

/** Held in memory here and, while its parts arrive, on the primary; above the edge's own limit of bodies. */
const FORWARDED_BYTES = 64 * 1024 * 1024;
/** A primary that is heard of, and does not answer: the time limit of a request where that is shorter. */
const ANSWER_WITHIN_MS = 30_000;
const APPLY_WITHIN_MS = 2000;
const LATE = 'the write was made on the primary and is not yet visible on this cluster';
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'LIST']);

const readAll = async (body: EdgeResponse['body']): Promise<Uint8Array> => {
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** What a request reaches, as a paths filter names it. */
const groupsOf = ({ mount, namespace }: RequestHead, whole: string | undefined): string[] => [
  ...(mount === undefined || mount.uuid === '' ? [] : [mountGroup(mount.uuid)]),
  ...(namespace === undefined || namespace.path === '' ? [] : [namespaceGroup(namespace.id)]),
  ...(whole === undefined ? [] : [whole]),
];

/**
 * The primary's side. A secondary asks for nothing that is kept from it; one that does finds nothing.
 * @param whole the group of a service whose data are one mount
 */
export const serveForwarded =
  (edge: () => EdgeService, whole?: string) =>
  async (request: Uint8Array, mayReach: MayReach): Promise<Uint8Array> => {
    const { head, body, deadlineMs } = RequestStart.decode(request);
    if (head === undefined)
      throw new KeelsonError('replication.malformed', { reason: 'no request' });
    if (!(await mayReach(groupsOf(head, whole))))
      throw new KeelsonError('sys.no_route', { path: head.path });
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), deadlineMs);
    try {
      const response = await edge().handle({
        head,
        body: bufferedBody(body),
        signal: late.signal,
        timeoutMs: deadlineMs,
      });
      return ResponseStart.encode({
        head: response.head,
        body: Buffer.from(await readAll(response.body)),
        complete: true,
      }).finish();
    } finally {
      clearTimeout(timer);
    }
  };

/** An envelope of /v1 with one more warning; other documents have no place for one. */
const withWarning = (body: Buffer, text: string): Uint8Array => {
  try {
    const document = JSON.parse(body.toString()) as { warnings?: readonly string[] | null };
    if (!('warnings' in document)) return body;
    return Buffer.from(
      JSON.stringify({ ...document, warnings: [...(document.warnings ?? []), text] }),
    );
  } catch {
    return body;
  }
};

const forward = async (
  member: ReplicationMember,
  { head, timeoutMs = ANSWER_WITHIN_MS }: RouteExchange,
  body: Uint8Array,
): Promise<EdgeResponse> => {
  const run = member.runOf('performance');
  // It follows nobody, or does not yet act on its role.
  if (run?.role !== 'secondary') throw new KeelsonError('replication.primary_unreachable');
  const withinMs = Math.min(timeoutMs, ANSWER_WITHIN_MS);
  const request = RequestStart.encode({
    head,
    deadlineMs: withinMs,
    body: Buffer.from(body),
    complete: true,
  }).finish();
  const { response, isApplied } = await run.secondary.forward(request, {
    timeoutMs: withinMs,
    applyWithinMs: APPLY_WITHIN_MS,
  });
  const answer = ResponseStart.decode(response);
  if (answer.head === undefined)
    throw new KeelsonError('replication.malformed', { reason: 'no response' });
  if (isApplied || answer.body.length === 0)
    return { ...edgeResponse(answer.head.status, {}, answer.body), head: answer.head };
  const headers = answer.head.headers.filter(({ name }) => name !== 'content-length');
  return { head: { ...answer.head, headers }, body: withWarning(answer.body, LATE) };
};

const writeOrForward = async (
  member: ReplicationMember,
  route: Route,
  exchange: RouteExchange,
): Promise<EdgeResponse> => {
  if (member.gate.closed !== 'shared') return route.handle(exchange);
  const body = await exchange.body.bytes(FORWARDED_BYTES);
  try {
    return await route.handle({ ...exchange, body: bufferedBody(body) });
  } catch (error) {
    if (!hasCode(error, 'replication.read_only')) throw error;
    return forward(member, exchange, body);
  }
};

/**
 * The routes of a service within a performance set: those that may not write here are answered by the
 * primary, writes tell how far the log goes, and requests wait for what they are told.
 */
export const forwardingRoutes = (
  member: ReplicationMember,
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
        const response = await writeOrForward(member, route, exchange);
        return member.indexKey === undefined
          ? response
          : withIndex(member, exchange.head, response);
      },
    };
  });
