/**
 * `GET /v1/sys/internal/specs/openapi`: the operations of `/v1` as one OpenAPI 3.0 document, in the shape
 * that tools of the vendor read. sys says which mounts the caller can reach; the operations are those of
 * the documents at `/openapi`. Implemented as a wrapper of sys, because the gateway knows every service.
 */
import {
  type EdgeService,
  edgeResponse,
  type OpenApiDocument,
  toOpenApiDocument,
} from '@keelson/edge';
import { responseBytes } from '../answers/response-bytes.ts';

const PATH = '/sys/internal/specs/openapi';

type JsonObject = Readonly<Record<string, unknown>>;

/** The answer of sys. */
interface Reachable {
  readonly generic_mount_paths: boolean;
  readonly mounts: readonly { readonly path: string; readonly type: string }[];
}

/** A schema of OpenAPI 3.0, where `type` is one name and null is a separate property. */
const withSingleType = (schema: JsonObject): JsonObject => {
  const { type, contentMediaType, ...others } = schema;
  if (contentMediaType !== undefined) return { ...others, type, format: 'binary' };
  if (!Array.isArray(type)) return schema;
  const names = type.filter((name) => name !== 'null');
  return {
    ...others,
    ...(names.length === 1 ? { type: names[0] } : { anyOf: names.map((name) => ({ type: name })) }),
    ...(names.length < type.length && { nullable: true }),
  };
};

/** The same document in OpenAPI 3.0. */
const toOpenApi30 = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(toOpenApi30);
  if (typeof value !== 'object' || value === null) return value;
  const converted = Object.entries(value).map(([name, member]) => [name, toOpenApi30(member)]);
  return withSingleType(Object.fromEntries(converted) as JsonObject);
};

const documentFor = async (
  services: Readonly<Record<string, EdgeService>>,
  { generic_mount_paths: isGeneric, mounts }: Reachable,
): Promise<JsonObject> => {
  const documents: OpenApiDocument[] = [];
  const sys = await services['sys']?.describe();
  if (sys !== undefined) {
    const { paths, ...others } = toOpenApiDocument(sys);
    const reached = Object.entries(paths).filter(([path]) =>
      mounts.some((mount) => path.startsWith(`/${mount.path}`)),
    );
    documents.push({ ...others, paths: Object.fromEntries(reached) });
  }
  const prefixes = new Map(
    mounts.map(({ path, type }) => [
      isGeneric ? `/{${type}_mount_path}` : `/${path.replace(/\/$/, '')}`,
      type,
    ]),
  );
  for (const [prefix, type] of prefixes) {
    const engine = services[type];
    if (engine !== undefined) documents.push(toOpenApiDocument(await engine.describe(), prefix));
  }
  const [first] = documents;
  return {
    openapi: '3.0.2',
    info: {
      title: 'Keelson',
      version: first?.info['version'],
      description: 'The operations that the caller can reach. Paths are relative to /v1.',
      license: { name: 'Apache-2.0' },
    },
    servers: first?.servers,
    security: first?.security,
    paths: Object.assign({}, ...documents.map(({ paths }) => toOpenApi30(paths))) as JsonObject,
    components: toOpenApi30(first?.components),
  };
};

export const withVendorDocument = (
  sys: EdgeService,
  services: Readonly<Record<string, EdgeService>>,
): EdgeService => ({
  handle: async (request) => {
    const answered = await sys.handle(request);
    const { path, method } = request.head;
    if (path !== PATH || method !== 'GET' || answered.head.status !== 200) return answered;
    const reachable = JSON.parse(
      Buffer.from(await responseBytes(answered)).toString(),
    ) as Reachable;
    const document = await documentFor(services, reachable);
    return edgeResponse(
      200,
      { 'content-type': 'application/json', 'cache-control': 'no-store' },
      Buffer.from(JSON.stringify(document)),
    );
  },
  describe: () => sys.describe(),
  check: () => sys.check(),
});
