/** One OpenAPI document, composed of the documents of the services. */
import type { EdgeService } from '@keelson/edge';
import type { ServiceDescription } from '@keelson/proto/edge/v1/edge';

type JsonObject = Readonly<Record<string, unknown>>;

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonObject;
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly components: { readonly schemas: JsonObject };
}

const METHODS: ReadonlySet<string> = new Set([
  'get',
  'put',
  'post',
  'delete',
  'patch',
  'head',
  'x-list',
]);

/** The paths of a service with its prefix, each operation tagged with the service. */
const prefixedPaths = ({ service, pathsJson, pathPrefix }: ServiceDescription) =>
  Object.entries(JSON.parse(pathsJson) as Record<string, Record<string, JsonObject>>).map(
    ([path, operations]) =>
      [
        pathPrefix + path,
        Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [
            method,
            METHODS.has(method) && operation['tags'] === undefined
              ? { ...operation, tags: [service] }
              : operation,
          ]),
        ),
      ] as const,
  );

/** Omits services that cannot be reached, so that only available routes are described. */
export const composeOpenApi = async (
  services: readonly EdgeService[],
  version: string,
): Promise<OpenApiDocument> => {
  const described = await Promise.allSettled(services.map((service) => service.describe()));
  const descriptions = described.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Keelson',
      version,
      description:
        'Workspace API, certificate authority and administration. OpenAPI knows no LIST method: the extension x-list describes it, and GET with ?list=true serves the same.',
    },
    paths: Object.fromEntries(descriptions.flatMap(prefixedPaths)),
    components: {
      schemas: Object.assign(
        {},
        ...descriptions.map(({ schemasJson }) => JSON.parse(schemasJson) as JsonObject),
      ) as JsonObject,
    },
  };
};
