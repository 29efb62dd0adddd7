/**
 * `GET /v1/sys/internal/specs/openapi`: the operations of `/v1` as one OpenAPI 3.0 document, in the shape
 * that tools of the vendor read. sys says which mounts the caller can reach; the operations are those of
 * the documents at `/openapi`. Implemented as a wrapper of sys, because the gateway knows every service.
 */
import { type EdgeService, edgeResponse, toOpenApiDocument } from '@keelson/edge';
import { responseBytes } from '../answers/response-bytes.ts';
import { toOpenApi30 } from './openapi-30.ts';

const PATH = '/sys/internal/specs/openapi';

/** The answer of sys. */
interface Reachable {
  readonly generic_mount_paths: boolean;
  readonly mounts: readonly { readonly path: string; readonly type: string }[];
}

const documentFor = async (
  sys: EdgeService,
  services: Readonly<Record<string, EdgeService>>,
  { generic_mount_paths: isGeneric, mounts }: Reachable,
): Promise<object> => {
  const administration = toOpenApiDocument(await sys.describe());
  const reached = Object.entries(administration.paths).filter(([path]) =>
    mounts.some((mount) => path.startsWith(`/${mount.path}`)),
  );
  const methods = Object.entries(
    services['auth'] === undefined
      ? {}
      : toOpenApiDocument(await services['auth'].describe(), '').paths,
  );
  const prefixes = new Map(
    mounts.map(({ path, type }) => [
      isGeneric ? `/{${type}_mount_path}` : `/${path.replace(/\/$/, '')}`,
      type,
    ]),
  );
  const paths = Object.fromEntries(reached);
  // The paths of an auth method begin with its type, in place of the path of the mount.
  for (const [prefix, type] of prefixes)
    for (const [path, operations] of methods)
      if (path.startsWith(`/${type}/`)) paths[prefix + path.slice(type.length + 1)] = operations;
  const tags = new Set(administration.tags.map(({ name }) => name));
  for (const [prefix, type] of prefixes) {
    const engine = services[type];
    if (engine === undefined) continue;
    const document = toOpenApiDocument(await engine.describe(), prefix);
    Object.assign(paths, document.paths);
    for (const { name } of document.tags) tags.add(name);
  }
  return toOpenApi30({
    ...administration,
    info: {
      ...administration.info,
      title: 'Keelson',
      description: 'The operations that the caller can reach. Paths are relative to /v1.',
    },
    tags: [...tags].map((name) => ({ name })),
    paths,
  });
};

export const withVendorDocument = (
  sys: EdgeService,
  services: Readonly<Record<string, EdgeService>>,
): EdgeService => ({
  ...sys,
  handle: async (request) => {
    const answered = await sys.handle(request);
    const { path, method } = request.head;
    if (path !== PATH || method !== 'GET' || answered.head.status !== 200) return answered;
    const reachable = JSON.parse(
      Buffer.from(await responseBytes(answered)).toString(),
    ) as Reachable;
    const document = await documentFor(sys, services, reachable);
    return edgeResponse(
      200,
      { 'content-type': 'application/json', 'cache-control': 'no-store' },
      Buffer.from(JSON.stringify(document)),
    );
  },
});
