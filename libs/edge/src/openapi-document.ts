/**
 * The OpenAPI document of one API, made from what its service says about its routes. Everything that holds
 * for every operation is added here, once: ids, path parameters, the LIST method, security.
 */
import type { ServiceDescription } from '@keelson/proto/edge/v1/edge';

type JsonObject = Readonly<Record<string, unknown>>;

interface Parameter extends JsonObject {
  readonly name: string;
  readonly in: string;
}

interface Operation extends JsonObject {
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
}

/** Operations by method. */
type PathItem = Readonly<Record<string, Operation>>;

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonObject;
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly JsonObject[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: JsonObject;
}

const LIST = 'x-list';

const wordsOf = (text: string): readonly string[] =>
  text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');

/** `list_roles` for LIST /roles. */
const operationId = (method: string, path: string): string =>
  [...wordsOf(method.replace(LIST, 'list')), ...wordsOf(path)].join('_');

/** Numbers the operations whose addresses differ only in their separators, such as `a_b` and `a-b`. */
const numberedIds = () => {
  const counts = new Map<string, number>();
  return (item: PathItem): PathItem =>
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => {
        const id = String(operation['operationId']);
        const count = (counts.get(id) ?? 0) + 1;
        counts.set(id, count);
        return [method, count === 1 ? operation : { ...operation, operationId: `${id}_${count}` }];
      }),
    );
};

const pathParameters = (path: string, declared: readonly Parameter[]): readonly Parameter[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, name = '']) =>
      declared.find((one) => one.in === 'path' && one.name === name) ?? {
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      },
  );

const listQuery = (required: boolean): Parameter => ({
  name: 'list',
  in: 'query',
  required,
  description: 'Asks for the list, as the method LIST does.',
  schema: { type: 'string', enum: ['true'] },
});

const described = (
  method: string,
  path: string,
  { parameters: declared = [], ...others }: Operation,
  query: readonly Parameter[],
): Operation => {
  const parameters = [
    ...pathParameters(path, declared),
    ...query,
    ...declared.filter((one) => one.in !== 'path'),
  ];
  return {
    operationId: operationId(method, path),
    ...others,
    ...(parameters.length === 0 ? {} : { parameters }),
  };
};

const isSame = (one: Operation, other: Operation | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** A read with the parameters that only the list at its address has. */
const withThoseOf = (list: Operation, get: Operation): Operation => {
  const { parameters = [] } = get;
  const names = new Set(parameters.map(({ name }) => name));
  const ofList = (list.parameters ?? []).filter(({ name }) => !names.has(name));
  return ofList.length === 0 ? get : { ...get, parameters: [...parameters, ...ofList] };
};

/**
 * One operation for methods that OpenAPI does not know or that mean the same: LIST is `GET ?list=true`, and
 * PUT is left out where it is the same as POST; `x-methods` names them. Preflights are left out.
 */
const documented = (path: string, item: PathItem): PathItem => {
  const { [LIST]: list, options: _preflight, put, ...others } = item;
  const isPutSame =
    put !== undefined && others['post'] !== undefined && isSame(put, others['post']);
  const methods = isPutSame || put === undefined ? others : { ...others, put };
  const operations: Record<string, Operation> = {};
  for (const [method, operation] of Object.entries(methods))
    operations[method] = described(method, path, operation, []);
  if (isPutSame) operations['post'] = { ...operations['post'], 'x-methods': ['POST', 'PUT'] };
  if (list === undefined) return operations;
  const { get } = others;
  operations['get'] =
    get === undefined
      ? { ...described(LIST, path, list, [listQuery(true)]), 'x-methods': ['LIST'] }
      : {
          ...described('get', path, withThoseOf(list, get), [listQuery(false)]),
          'x-methods': ['GET', 'LIST'],
        };
  return operations;
};

/** Protocols, such as ACME, come last: programs speak them, and people look for the rest. */
const readersOrder = (one: string, other: string): number => {
  const isProtocol = (name: string): boolean => name === name.toUpperCase();
  return Number(isProtocol(one)) - Number(isProtocol(other)) || (one < other ? -1 : 1);
};

/**
 * Paths are relative to the server, which is the part of the service's prefix without parameters.
 * @param below takes the place of the part with parameters, such as `/pki` for `/{mount}`
 */
export const toOpenApiDocument = (
  description: ServiceDescription,
  below?: string,
): OpenApiDocument => {
  const [server = '', ...parameters] = description.pathPrefix.split(/(?=\/\{)/);
  const prefix = below ?? parameters.join('');
  const routes = Object.entries(JSON.parse(description.pathsJson) as Record<string, PathItem>);
  const withOwnIds = numberedIds();
  const paths = Object.fromEntries(
    routes.map(([route, item]) => {
      const path = prefix + route;
      return [path, withOwnIds(documented(path, item))] as const;
    }),
  );
  const components = JSON.parse(description.componentsJson) as {
    readonly securitySchemes?: JsonObject;
  };
  const tags = new Set(
    Object.values(paths).flatMap((item) =>
      Object.values(item).flatMap(({ tags: own = [] }) => own),
    ),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: description.title,
      version: description.version,
      description: description.text,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server }],
    security: Object.keys(components.securitySchemes ?? {}).map((name) => ({ [name]: [] })),
    tags: [...tags].toSorted(readersOrder).map((name) => ({ name })),
    paths,
    components,
  };
};
