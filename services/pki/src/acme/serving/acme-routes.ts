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
import { requireMount } from '@keelson/engine';
import type { Logger } from '@keelson/logging';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import {
  type RequestParts,
  readSignedRequest,
  requireEmptyPayload,
} from '../accounts/signed-request.ts';
import type { SignedResource } from '../accounts/signed-resource.ts';
import { refusalAnswer, renderAcme, toProblem } from '../answers/acme-answer.ts';
import {
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
} from '../directories/domain/directory.ts';
import { type DirectoryMount } from '../directories/domain/directory-mount.ts';
import type { AcmeRequest, OpenResource } from '../directories/open-resource.ts';
import { malformed } from '../problems/problem.ts';
import { answerPreflight, methodsOn, withCrossOrigin } from './cross-origin.ts';

export interface ServingParts extends DirectoryParts, RequestParts {
  readonly logger: Logger;
}

/** Reference §7.3: the answer at a path without a directory contains no explanation. */
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
  tags: ['ACME'],
  responses: {
    204: { description: 'A nonce in `Replay-Nonce`.' },
    '2XX': {
      description: 'The resource as RFC 8555 describes it.',
      content: { 'application/json': {}, 'application/pem-certificate-chain': {} },
    },
    default: {
      description: 'A problem document; JSON of /v1 if the mount has no ACME.',
      content: { 'application/problem+json': {}, 'application/json': {} },
    },
  },
});

/**
 * The parts shared by all routes, and the methods by path, because a resource may be readable in
 * several ways.
 */
interface Serving extends ServingParts {
  readonly methodsOf: ReadonlyMap<string, readonly EdgeMethod[]>;
}

/** Renders an error with the usual headers, even if the directory itself cannot be opened. */
const refuse = async (
  { authorities, nonces, logger }: Serving,
  thrown: unknown,
  exchange: RouteExchange,
  form: DirectoryForm,
): Promise<EdgeResponse> => {
  if (thrown instanceof NotServed) return NOT_SERVED;
  const problem = toProblem(thrown, exchange.head.requestId);
  if (problem.type === 'serverInternal')
    logger.error({ err: thrown, request_id: exchange.head.requestId }, 'ACME request failed');
  const { path } = directoryPathOf(form, exchange.params);
  const { settings } = await authorities.of(requireMount(exchange.head));
  const urls = directoryUrls(settings.cluster.path, path);
  return renderAcme(urls.directory, await nonces.issue(), refusalAnswer(problem));
};

const answered = async (
  serving: Serving,
  exchange: RouteExchange,
  form: DirectoryForm,
  answer: (directory: OpenDirectory) => Promise<EdgeResponse>,
): Promise<EdgeResponse> => {
  const mount = requireMount(exchange.head);
  try {
    const path = directoryPathOf(form, exchange.params);
    const directory = await openDirectory(serving, directoryMount(mount), path);
    return withCrossOrigin(mount, await answer(directory));
  } catch (error) {
    return withCrossOrigin(mount, await refuse(serving, error, exchange, form));
  }
};

const route = (
  serving: Serving,
  form: DirectoryForm,
  method: EdgeMethod,
  { path, summary }: { readonly path: string; readonly summary: string },
  answer: (exchange: RouteExchange, directory: OpenDirectory) => Promise<EdgeResponse>,
): Route => ({
  method,
  path: `${form.route}/${path}`,
  operation: () => describe(summary),
  handle: (exchange) =>
    answered(serving, exchange, form, (directory) => answer(exchange, directory)),
  refuse: (_, exchange) =>
    answered(serving, exchange, form, () => {
      const methods = methodsOn(requireMount(exchange.head), serving.methodsOf.get(path) ?? []);
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

/** A POST route whose requests are signed by an account or a key, as `signer` says. */
const signedRoute = (
  serving: Serving,
  form: DirectoryForm,
  { path, summary, signer, handle }: SignedResource,
): Route =>
  route(serving, form, 'POST', { path, summary }, async (exchange, directory) => {
    const signed = await readSignedRequest(serving, directory, exchange, signer);
    const answer = await handle(requestOf(exchange, directory), signed);
    return renderAcme(directory.urls.directory, await serving.nonces.issue(), answer);
  });

const openRoutes = (
  serving: Serving,
  form: DirectoryForm,
  resource: OpenResource,
): readonly Route[] => {
  const { path, summary, method, hasNonce, isReadSigned, handle } = resource;
  const unsigned = route(serving, form, method, resource, async (exchange, directory) => {
    const answer = await handle(requestOf(exchange, directory));
    const nonce = hasNonce ? await serving.nonces.issue() : undefined;
    return renderAcme(directory.urls.directory, nonce, answer);
  });
  if (isReadSigned !== true) return [unsigned];
  // RFC 8555 §6.3: "in addition to POST-as-GET".
  const readSigned: SignedResource = {
    path,
    summary,
    signer: 'account',
    handle: (request, signed) => {
      requireEmptyPayload(signed);
      return handle(request);
    },
  };
  return [unsigned, signedRoute(serving, form, readSigned)];
};

const preflightRoute = (
  form: DirectoryForm,
  path: string,
  methods: readonly EdgeMethod[],
): Route => ({
  method: 'OPTIONS',
  path: `${form.route}/${path}`,
  operation: () => describe('Methods and headers for pages of other origins (RFC 8555 §6.1)'),
  handle: ({ head }) => Promise.resolve(answerPreflight(requireMount(head), methods)),
});

export const acmeRoutesOf = (
  parts: ServingParts,
  openResources: readonly OpenResource[],
  signedResources: readonly SignedResource[],
): Route[] => {
  const methodsOf = new Map<string, readonly EdgeMethod[]>();
  for (const { path, method, isReadSigned } of openResources)
    methodsOf.set(path, [
      ...(methodsOf.get(path) ?? []),
      method,
      ...(isReadSigned === true ? (['POST'] as const) : []),
    ]);
  for (const { path } of signedResources) methodsOf.set(path, ['POST']);
  const serving = { ...parts, methodsOf };
  return DIRECTORY_FORMS.flatMap((form) => [
    ...[...methodsOf].map(([path, methods]) => preflightRoute(form, path, methods)),
    ...openResources.flatMap((resource) => openRoutes(serving, form, resource)),
    ...signedResources.map((resource) => signedRoute(serving, form, resource)),
  ]);
};
