/**
 * Routes of one service: matching, the 404/405 distinction, and the OpenAPI paths they make up.
 * The dialects (libs/secrets-api, libs/jsonapi) build `Route`s; this file knows nothing of documents.
 */
import { KeelsonError } from '@keelson/errors';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { EdgeRequest, EdgeResponse, EdgeService } from './edge-service.ts';
import { type EdgeMethod, methodRefused } from './methods.ts';
import { decodePath } from './request-path.ts';

export interface RouteExchange extends EdgeRequest {
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

export interface Route {
  readonly method: EdgeMethod;
  /**
   * `/issuer/:ref/pem`; a trailing slash in the request is ignored. One `*` stands for one or more
   * segments and gives the parameter `path`; fixed text may follow it: `/mounts/*` + `/tune`.
   */
  readonly path: string;
  /** OpenAPI 3.1 Operation Object. */
  readonly operation: Readonly<Record<string, unknown>>;
  handle(exchange: RouteExchange): Promise<EdgeResponse>;
  /**
   * Answers a request to this path whose method no route has, where that takes another document than
   * `renderError` makes. @param error names the methods that routes have, see `methodRefused`
   */
  refuse?(error: KeelsonError, exchange: RouteExchange): Promise<EdgeResponse>;
}

export interface EdgeServiceOptions {
  /** "workspace", "pki", "sys". */
  readonly service: string;
  readonly version: string;
  /** "/api/v2", "/v1", "/v1/{mount}". */
  readonly pathPrefix: string;
  readonly routes: readonly Route[];
  /** OpenAPI component schemas that the routes refer to. */
  readonly schemas?: Readonly<Record<string, unknown>>;
  /**
   * Rejects with what keeps the service from serving requests, and resolves with what does not work although
   * they are served; all works if absent.
   */
  readonly check?: () => Promise<readonly string[]>;
  /** Turns what a handler threw into the service's own error document. */
  renderError(error: unknown, request: EdgeRequest): EdgeResponse;
}

/** `/a/:b` -> `/a/{b}`. */
const toOpenApiPath = (path: string): string =>
  path.replaceAll(/:(\w+)(\([^)]*\))?/g, '{$1}').replace('*', '{path}');

const toOpenApiPaths = (routes: readonly Route[]): Record<string, Record<string, unknown>> => {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    // OpenAPI 3.1 has no LIST: it is written as the extension `x-list`; GET ?list=true serves the same.
    const key = route.method === 'LIST' ? 'x-list' : route.method.toLowerCase();
    const path = toOpenApiPath(route.path);
    paths[path] = { ...paths[path], [key]: route.operation };
  }
  return paths;
};

/** Routes that share everything up to their `*`, the longest text after it first. */
type Alternatives = { readonly suffix: string; readonly route: Route }[];
type Registered =
  | { readonly route: Route; readonly alternatives?: undefined }
  | { readonly route?: undefined; readonly alternatives: Alternatives };

/** The alternative whose text after the `*` ends the captured segments, and what the `*` stands for. */
const chooseAlternative = (alternatives: Alternatives, captured: string) => {
  const segments = captured.replace(/(?<!\/)\/+$/, '');
  const chosen = alternatives.find(
    ({ suffix }) => segments.length > suffix.length && segments.endsWith(suffix),
  );
  return (
    chosen && { route: chosen.route, path: segments.slice(0, -chosen.suffix.length || undefined) }
  );
};

const NOTHING = new Uint8Array(0);

/** An EdgeService from routes. A route for GET serves HEAD too. */
export const createEdgeService = (options: EdgeServiceOptions): EdgeService => {
  // find-my-way refuses methods that Node does not know, so each method has its own tree under GET.
  const trees = new Map<EdgeMethod, ReturnType<typeof findMyWay>>();
  const wildcards = new Map<string, Alternatives>();
  const asGet: HTTPMethod = 'GET';
  for (const route of options.routes) {
    let tree = trees.get(route.method);
    if (tree === undefined) {
      tree = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 1024 });
      trees.set(route.method, tree);
    }
    const [fixed = '', suffix] = route.path.split('*');
    if (suffix === undefined) {
      tree.on(asGet, route.path, () => undefined, { route });
      continue;
    }
    const registered = wildcards.get(`${route.method} ${fixed}`);
    const alternatives = registered ?? [];
    alternatives.push({ suffix, route });
    alternatives.sort((a, b) => b.suffix.length - a.suffix.length);
    if (registered === undefined) {
      wildcards.set(`${route.method} ${fixed}`, alternatives);
      tree.on(asGet, `${fixed}*`, () => undefined, { alternatives });
    }
  }

  const find = (tree: ReturnType<typeof findMyWay>, path: string) => {
    const found = tree.find(asGet, path);
    if (found === null) return undefined;
    const { route, alternatives } = found.store as Registered;
    const params = found.params as Record<string, string>;
    if (route !== undefined) return { route, params };
    const { '*': captured = '', ...named } = params;
    const chosen = chooseAlternative(alternatives, captured);
    return chosen && { route: chosen.route, params: { ...named, path: chosen.path } };
  };

  const findFor = (method: string, path: string) => {
    const tree = trees.get(method as EdgeMethod);
    return tree && find(tree, path);
  };

  /** `refusal`: the route is one of the path, and the method another. */
  const match = (
    method: string,
    path: string,
  ): NonNullable<ReturnType<typeof find>> & { readonly refusal?: KeelsonError } => {
    decodePath(path);
    const found = findFor(method, path) ?? (method === 'HEAD' ? findFor('GET', path) : undefined);
    if (found !== undefined) return found;
    const served = [...trees.keys()].filter((other) => findFor(other, path) !== undefined);
    const [first] = served;
    const other = first && findFor(first, path);
    if (other === undefined) throw new KeelsonError('request.unsupported_path');
    return { ...other, refusal: methodRefused(served) };
  };

  const refuse = (
    route: Route,
    refusal: KeelsonError,
    exchange: RouteExchange,
  ): Promise<EdgeResponse> => {
    if (route.refuse === undefined) throw refusal;
    return route.refuse(refusal, exchange);
  };

  return {
    handle: async (request) => {
      try {
        const { route, params, refusal } = match(request.head.method, request.head.path);
        const query = new URLSearchParams(request.head.query);
        const exchange = { ...request, params, query };
        const response = await (refusal === undefined
          ? route.handle(exchange)
          : refuse(route, refusal, exchange));
        // RFC 9110 §9.3.2: the headers of GET, without its content.
        return request.head.method === 'HEAD' ? { head: response.head, body: NOTHING } : response;
      } catch (error) {
        return options.renderError(error, request);
      }
    },
    check: async () => (await options.check?.()) ?? [],
    describe: () =>
      Promise.resolve({
        service: options.service,
        version: options.version,
        pathPrefix: options.pathPrefix,
        pathsJson: JSON.stringify(toOpenApiPaths(options.routes)),
        schemasJson: JSON.stringify(options.schemas ?? {}),
      }),
  };
};
