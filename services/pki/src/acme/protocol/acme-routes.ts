/** The resources of RFC 8555 §7 under every form of directory. */
import {
  allowHeader,
  type EdgeMethod,
  type EdgeResponse,
  edgeResponse,
  methodRefused,
  type Route,
  type RouteExchange,
} from '@keelson/edge';
import type { Logger } from '@keelson/logging';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import { requireMount } from '../../mounts/request-mount.ts';
import {
  type DirectoryMount,
  type DirectoryParts,
  NotServed,
  type OpenDirectory,
  openDirectory,
} from '../directories/directory-operations.ts';
import {
  DIRECTORY_FORMS,
  type DirectoryForm,
  directoryPathOf,
  directoryUrls,
} from '../domain/directory.ts';
import { malformed } from '../domain/problem.ts';
import { type AcmeAnswer, refusalAnswer, renderAcme, toProblem } from './acme-answer.ts';
import { answerPreflight, methodsOn, withCrossOrigin } from './cross-origin.ts';
import {
  type RequestParts,
  readSignedRequest,
  requireEmptyPayload,
  type SignedRequest,
  type SignerKind,
} from './signed-request.ts';

export interface ServingParts extends DirectoryParts, RequestParts {
  readonly logger: Logger;
}

/** A request to a resource of an open directory. */
export interface AcmeRequest {
  readonly directory: OpenDirectory;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

/** What a resource answers to a request that is signed as it must be. */
export type SignedHandler = (
  request: AcmeRequest,
  signed: SignedRequest,
) => Promise<AcmeAnswer> | AcmeAnswer;

export interface SignedResource {
  /** Below the directory: "order/:id". */
  readonly path: string;
  readonly summary: string;
  readonly signer: SignerKind;
  readonly handle: SignedHandler;
}

/** A resource that is read without a signature. */
export interface OpenResource {
  readonly path: string;
  readonly summary: string;
  readonly method: EdgeMethod;
  /** Answers that everybody may be given carry no nonce. */
  readonly hasNonce: boolean;
  /** Read by POST-as-GET too. */
  readonly isReadSigned?: true;
  readonly handle: (request: AcmeRequest) => Promise<AcmeAnswer> | AcmeAnswer;
}

/** Reference §7.3: while nothing is served, nothing is explained. */
const NOT_SERVED = edgeResponse(
  404,
  { 'content-type': 'application/json', 'cache-control': 'no-store' },
  Buffer.from('{"errors":[]}'),
);

const directoryMount = (mount: Mount): DirectoryMount => ({
  uuid: mount.uuid,
  local: mount.local,
  path: mount.path,
  namespacePath: mount.namespace?.path ?? '',
  defaultLeaseTtlSeconds: mount.defaultLeaseTtlSeconds,
  maxLeaseTtlSeconds: mount.maxLeaseTtlSeconds,
});

const describe = (summary: string): Readonly<Record<string, unknown>> => ({
  summary,
  tags: ['acme'],
});

export const acmeRoutesOf = (
  parts: ServingParts,
  openResources: readonly OpenResource[],
  signedResources: readonly SignedResource[],
): Route[] => {
  const { nonces, logger } = parts;

  /** A refusal carries what every answer does, even where the directory itself is what is wrong. */
  const refuse = async (
    thrown: unknown,
    exchange: RouteExchange,
    form: DirectoryForm,
  ): Promise<EdgeResponse> => {
    if (thrown instanceof NotServed) return NOT_SERVED;
    const problem = toProblem(thrown, exchange.head.requestId);
    if (problem.type === 'serverInternal')
      logger.error({ err: thrown, request_id: exchange.head.requestId }, 'ACME request failed');
    const { path } = directoryPathOf(form, exchange.params);
    const { settings } = await parts.authorities.of(requireMount(exchange.head));
    const urls = directoryUrls(settings.cluster.path, path);
    return renderAcme(urls, await nonces.issue(), refusalAnswer(problem));
  };

  const open = (exchange: RouteExchange, form: DirectoryForm): Promise<OpenDirectory> =>
    openDirectory(
      parts,
      directoryMount(requireMount(exchange.head)),
      directoryPathOf(form, exchange.params),
    );

  const answered = async (
    exchange: RouteExchange,
    form: DirectoryForm,
    answer: (directory: OpenDirectory) => Promise<EdgeResponse>,
  ): Promise<EdgeResponse> => {
    const mount = requireMount(exchange.head);
    try {
      return withCrossOrigin(mount, await answer(await open(exchange, form)));
    } catch (error) {
      return withCrossOrigin(mount, await refuse(error, exchange, form));
    }
  };

  const route = (
    form: DirectoryForm,
    method: EdgeMethod,
    { path, summary }: { readonly path: string; readonly summary: string },
    answer: (exchange: RouteExchange, directory: OpenDirectory) => Promise<EdgeResponse>,
  ): Route => ({
    method,
    path: `${form.route}/${path}`,
    operation: describe(summary),
    handle: (exchange) => answered(exchange, form, (directory) => answer(exchange, directory)),
    refuse: (_, exchange) =>
      answered(exchange, form, () => {
        const methods = methodsOn(requireMount(exchange.head), methodsOf.get(path) ?? []);
        const { allow = '' } = allowHeader(methodRefused(methods));
        // RFC 8555 §6.3.
        const hint = methods.includes('GET') ? '' : '; a read is a POST-as-GET';
        throw malformed(`this resource is served by ${allow}${hint}`, { status: 405, allow });
      }),
  });

  const requestOf = (exchange: RouteExchange, directory: OpenDirectory): AcmeRequest => ({
    directory,
    params: exchange.params,
    query: exchange.query,
    signal: exchange.signal,
  });

  const openRoutes = (form: DirectoryForm, resource: OpenResource): readonly Route[] => [
    route(form, resource.method, resource, async (exchange, directory) => {
      const answer = await resource.handle(requestOf(exchange, directory));
      const nonce = resource.hasNonce ? await nonces.issue() : undefined;
      return renderAcme(directory.urls, nonce, answer);
    }),
    // RFC 8555 §6.3: "in addition to POST-as-GET".
    ...(resource.isReadSigned === true
      ? [
          route(form, 'POST', resource, async (exchange, directory) => {
            const signed = await readSignedRequest(parts, directory, exchange, 'account');
            requireEmptyPayload(signed);
            const answer = await resource.handle(requestOf(exchange, directory));
            return renderAcme(directory.urls, await nonces.issue(), answer);
          }),
        ]
      : []),
  ];

  const signedRoutes = (form: DirectoryForm, resource: SignedResource): readonly Route[] => [
    route(form, 'POST', resource, async (exchange, directory) => {
      const signed = await readSignedRequest(parts, directory, exchange, resource.signer);
      const answer = await resource.handle(requestOf(exchange, directory), signed);
      return renderAcme(directory.urls, await nonces.issue(), answer);
    }),
  ];

  /** Methods by path: a resource may be read in several ways. */
  const methodsOf = new Map<string, readonly EdgeMethod[]>();
  for (const { path, method, isReadSigned } of openResources)
    methodsOf.set(path, [
      ...(methodsOf.get(path) ?? []),
      method,
      ...(isReadSigned === true ? (['POST'] as const) : []),
    ]);
  for (const { path } of signedResources) methodsOf.set(path, ['POST']);

  const preflightRoutes = (form: DirectoryForm): readonly Route[] =>
    [...methodsOf].map(([path, methods]) => ({
      method: 'OPTIONS',
      path: `${form.route}/${path}`,
      operation: describe('What a page of another origin may ask (RFC 8555 §6.1)'),
      handle: ({ head }) => Promise.resolve(answerPreflight(requireMount(head), methods)),
    }));

  return DIRECTORY_FORMS.flatMap((form) => [
    ...preflightRoutes(form),
    ...openResources.flatMap((resource) => openRoutes(form, resource)),
    ...signedResources.flatMap((resource) => signedRoutes(form, resource)),
  ]);
};
