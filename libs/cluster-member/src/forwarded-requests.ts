/** Serves the requests that performance secondaries forward to this cluster, their primary. */
import { bufferedBody, type EdgeResponse, type EdgeService } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { type RequestHead, RequestStart, ResponseStart } from '@keelson/proto/edge/v1/edge';
import { mountGroup, namespaceGroup } from '@keelson/replication';

/** Whether the records of these groups cross to the secondary that forwards a request. */
export type MayReach = (groups: readonly string[]) => Promise<boolean>;

/** Answers an encoded `RequestStart` with an encoded `ResponseStart`. */
export type ServeForwarded = (request: Uint8Array, mayReach: MayReach) => Promise<Uint8Array>;

const readAll = async (body: EdgeResponse['body']): Promise<Uint8Array> => {
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** Filter groups that a request accesses. */
const groupsOf = ({ mount, namespace }: RequestHead, whole: string | undefined): string[] => [
  ...(mount === undefined || mount.uuid === '' ? [] : [mountGroup(mount.uuid)]),
  ...(namespace === undefined || namespace.path === '' ? [] : [namespaceGroup(namespace.id)]),
  ...(whole === undefined ? [] : [whole]),
];

/** The path as the client asked for it, below its namespace. */
const wholePath = ({ mount, path }: RequestHead): string =>
  (mount?.path ?? '') + path.replace(/^\//, '');

/**
 * Serves requests that secondaries forward to this primary. A request for data withheld from the asking
 * secondary fails with `sys.no_route`.
 * @param whole the filter group of a service whose data belongs to a single mount
 */
export const serveForwarded =
  (edge: EdgeService, whole?: string): ServeForwarded =>
  async (request, mayReach) => {
    const { head, body, deadlineMs } = RequestStart.decode(request);
    if (head === undefined)
      throw new KeelsonError('replication.malformed', { reason: 'no request' });
    if (!(await mayReach(groupsOf(head, whole))))
      throw new KeelsonError('sys.no_route', { path: wholePath(head) });
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), deadlineMs);
    try {
      const response = await edge.handle({
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
