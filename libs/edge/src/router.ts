/**
 * Routes of one service: matching, errors 404 and 405, and the OpenAPI paths of the routes. The dialects
 * (libs/secrets-api, libs/jsonapi) create the routes; the router knows nothing about documents.
 */

import { KeelsonError, mayPassElsewhere } from '@keelson/errors';
import type { ServiceDescription } from '@keelson/proto/edge/v1/edge';
import { trace } from '@opentelemetry/api';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { type AnswerExamples, withExamples } from './answer-examples.ts';
import type { EdgeRequest, EdgeResponse, EdgeService } from './edge-service.ts';
import { type EdgeMethod, methodRefused } from './methods.ts';
import { decodePath } from './request-path.ts';

/** A request with the parameters that its route has parsed. */
export class RouteExchange implements EdgeRequest {
  readonly head: EdgeRequest['head'];
  readonly body: EdgeRequest['body'];
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly #request: EdgeRequest;
  #query: URLSearchParams | undefined;

  constructor(request: EdgeRequest, params: Readonly<Record<string, string>>) {
    this.#request = request;
    this.head = request.head;
    this.body = request.body;
    this.params = params;
  }

  /** Parsed on first use. */
  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.head.query));
  }

  /** Read on first use, because the gateway creates it then. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get timeoutMs(): number | undefined {
    return this.#request.timeoutMs;
  }

  /** The same request with another body, for example one that has already been read. */
  withBody(body: EdgeRequest['body']): RouteExchange {
    const { head, signal, timeoutMs } = this;
    return new RouteExchange({ head, body, signal, timeoutMs }, this.params);
  }
}

export interface Route {
  readonly method: EdgeMethod;
  /**
   * `/issuer/:ref/pem`; a trailing slash in the request is ignored. One `*` matches one or more
   * segments and gives the parameter `path`; fixed text may follow it: `/mounts/*` + `/tune`.
   */
  readonly path: string;
  /** OpenAPI 3.1 Operation Object. It is made when the document is asked for, which few processes ever are. */
  operation(): Readonly<Record<string, unknown>>;
  handle(exchange: RouteExchange): Promise<EdgeResponse>;
  /**
   * Answers a request to this path with a method that no route has, for paths whose error document differs
   * from `renderError`.
   * @param error names the methods that routes have, see `methodRefused`
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
  /** Routes that answer with the description of the service, themselves included. */
  readonly describingRoutes?: (describe: EdgeService['describe']) => readonly Route[];
  /** Title of the OpenAPI document, such as "Keelson workspaces". */
  readonly title?: string;
  /** Description in the OpenAPI document. */
  readonly text?: string;
  /** OpenAPI Components Object with what the operations refer to, and the security schemes. */
  readonly components?: Readonly<Record<string, unknown>>;
  /** Loads the examples of the OpenAPI document when it is asked for. */
  readonly loadExamples?: () => Promise<AnswerExamples>;
  /**
   * Whether a path needs no credentials.
   * @param path with `+` in place of each parameter
   */
  readonly isPublic?: (path: string) => boolean;
  /** See `EdgeService.check`. Absent if nothing is ever impaired. */
  readonly check?: () => Promise<readonly string[]>;
  /** See `EdgeService.position`. Absent if it is not known. */
  readonly position?: () => Promise<number>;
  /** Converts an error thrown by a handler to an error document of the service. */
  renderError(error: unknown, request: EdgeRequest): EdgeResponse;
}

/** `/a/:b` -> `/a/{b}`. */
const toOpenApiPath = (path: string): string =>
  path.replaceAll(/:(\w+)(\([^)]*\))?/g, '{$1}').replace('*', '{path}');

const toOpenApiPaths = ({
  routes,
  isPublic,
}: EdgeServiceOptions): Record<string, Record<string, unknown>> => {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    // OpenAPI 3.1 has no LIST method.
    const key = route.method === 'LIST' ? 'x-list' : route.method.toLowerCase();
    const path = toOpenApiPath(route.path);
    const needsNothing = isPublic?.(path.replaceAll(/\{\w+\}/g, '+')) === true;
    const operation = route.operation();
    paths[path] = {
      ...paths[path],
      [key]: needsNothing ? { ...operation, security: [] } : operation,
    };
  }
  return paths;
};

/** Routes with the same text before their `*`; the one with the longest text after it is first. */
type Alternatives = { readonly suffix: string; readonly route: Route }[];
type Registered =
  | { readonly route: Route; readonly alternatives?: undefined }
  | { readonly route?: undefined; readonly alternatives: Alternatives };

/**
 * The alternative whose text after the `*` matches the end of the captured segments, and the text that the
 * `*` matches.
 */
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

const toDescription = async (options: EdgeServiceOptions): Promise<ServiceDescription> => ({
  service: options.service,
  version: options.version,
  pathPrefix: options.pathPrefix,
  pathsJson: JSON.stringify(
    withExamples(toOpenApiPaths(options), (await options.loadExamples?.()) ?? {}),
  ),
  componentsJson: JSON.stringify(options.components ?? {}),
  title: options.title ?? '',
  text: options.text ?? '',
});

/** An EdgeService with these routes. A route for GET also serves HEAD. */
export const createEdgeService = (given: EdgeServiceOptions): EdgeService => {
  // It is long, and does not change.
  let description: Promise<ServiceDescription> | undefined;
  const describe = (): Promise<ServiceDescription> => (description ??= toDescription(options));
  const options = {
    ...given,
    routes: [...given.routes, ...(given.describingRoutes?.(describe) ?? [])],
  };
  // find-my-way refuses methods that Node does not know, so that each method has its own tree under GET.
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

  /** `refusal`: a route matches the path, but none the method. */
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
      let pattern: string | undefined;
      const withRoute = (response: EdgeResponse): EdgeResponse => ({
        ...response,
        head: { ...response.head, route: pattern },
      });
      try {
        const { route, params, refusal } = match(request.head.method, request.head.path);
        pattern = route.path;
        trace.getActiveSpan()?.setAttribute('http.route', options.pathPrefix + route.path);
        const exchange = new RouteExchange(request, params);
        const response = await (refusal === undefined
          ? route.handle(exchange)
          : refuse(route, refusal, exchange));
        // RFC 9110 §9.3.2: the headers of GET without its content.
        return withRoute(
          request.head.method === 'HEAD' ? { head: response.head, body: NOTHING } : response,
        );
      } catch (error) {
        if (mayPassElsewhere(error)) throw error;
        return withRoute(options.renderError(error, request));
      }
    },
    check: async () => (await options.check?.()) ?? [],
    position: async () => options.position?.(),
    describe,
  };
};
