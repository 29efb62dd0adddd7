/** Small real services for the gateway's tests: routes made with createEdgeService, a token, a policy. */

import { systemClock } from '@keelson/clock';
import { parseConfig } from '@keelson/config';
import { createEdgeService, type EdgeMethod, edgeResponse, type Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { createErrorRenderer } from '@keelson/jsonapi';
import { createLogger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import { Caller, Mount } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import {
  type AccessDefinition,
  AuditContext,
  type AuditDevice,
  type ResolveRequest,
  type WrapRequest,
} from '@keelson/proto/sys/v1/access';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import type { RpcService } from '@keelson/rpc';
import { createSecretsErrorRenderer } from '@keelson/secrets-api';
import { stubService } from '@keelson/testkit';
import { composeGateway } from '../src/compose.ts';
import { gatewayConfig } from '../src/config.ts';

export const TOKEN = 'hvs.neighbourTOKENneighbourTOKEN';
export const API_TOKEN = 'abcdefghijklmn.atlasv1.neighbourTOKENneighbour';
/** A second token of the same user. */
export const SECOND_API_TOKEN = `${API_TOKEN}2`;
export const OTHER_API_TOKEN = `${API_TOKEN}3`;

const json = (status: number, document: unknown) =>
  edgeResponse(
    status,
    { 'content-type': 'application/json' },
    Buffer.from(JSON.stringify(document)),
  );

const route = (method: EdgeMethod, path: string, handle: Route['handle']): Route => ({
  method,
  path,
  operation: () => ({ summary: `${method} ${path}` }),
  handle,
});

/** Responds with the request that it received. */
const echo = (method: EdgeMethod, path = '/echo'): Route =>
  route(method, path, async ({ head, body }) => {
    const { byteLength } = await body.bytes(1 << 30);
    return json(200, { request_id: head.requestId, data: { method, head, byteLength } });
  });

const METHODS: readonly EdgeMethod[] = ['GET', 'LIST', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A document of about 20 KB, as a client of the workspace API gets it. */
const page = Buffer.from(
  JSON.stringify({ data: Array.from({ length: 1000 }, (_, id) => ({ id })) }),
);
const PAGE_TYPE = { 'content-type': 'application/vnd.api+json' };

const pageRoutes: readonly Route[] = [
  route('GET', '/page', () => Promise.resolve(edgeResponse(200, PAGE_TYPE, page))),
  route('GET', '/page/public', () =>
    Promise.resolve(
      edgeResponse(
        200,
        { 'content-type': 'application/pkix-crl', 'cache-control': 'max-age=300', etag: '"1"' },
        page,
      ),
    ),
  ),
  route('GET', '/page/unstored', () =>
    Promise.resolve(edgeResponse(200, { ...PAGE_TYPE, 'cache-control': 'no-store' }, page)),
  ),
  route('POST', '/page/issued', () => Promise.resolve(edgeResponse(200, PAGE_TYPE, page))),
  route('GET', '/page/in-pieces', () =>
    Promise.resolve(
      edgeResponse(
        200,
        { ...PAGE_TYPE, 'content-length': String(page.byteLength) },
        (async function* () {
          yield page.subarray(0, 5000);
          yield page.subarray(5000);
        })(),
      ),
    ),
  ),
];

const secretRoutes: Route[] = [
  ...METHODS.map((method) => echo(method)),
  ...pageRoutes,
  echo('POST', '/open/echo'),
  echo('GET', '/mounted/echo'),
  echo('POST', '/webhooks/repositories/whk-1'),
  echo('GET', '/sys/health'),
  route('GET', '/gone', () => Promise.resolve(json(404, { errors: [] }))),
  route('GET', '/break', () => Promise.reject(new Error('a bug with hvs.bugTOKENbugTOKENbug'))),
  route('POST', '/secret', () => Promise.resolve(json(200, { data: { password: 'pass-SECRET' } }))),
  route('GET', '/forever', () => new Promise(() => undefined)),
  route('POST', '/small', async ({ body }) => {
    const { byteLength } = await body.bytes(1024);
    return json(200, { data: { byteLength } });
  }),
  route('GET', '/big', () => {
    const chunk = Buffer.alloc(100_000, 'x');
    return Promise.resolve(
      edgeResponse(
        200,
        {},
        (async function* () {
          for (let sent = 0; sent < 20; sent++) yield chunk;
        })(),
      ),
    );
  }),
];

const edge = (service: string, pathPrefix: string) =>
  createEdgeService({
    service,
    version: '1',
    pathPrefix,
    routes: secretRoutes,
    renderError: (service === 'workspace' ? createErrorRenderer : createSecretsErrorRenderer)(
      () => undefined,
    ),
  });

export interface SystemState {
  isSealed: boolean;
  isSuperseded: boolean;
  requestsCertificates: boolean;
  auditGeneration: number;
  devices: AuditDevice[];
  readonly wrapped: Map<string, WrapRequest>;
}

const CALLER = messageOf(Caller, { accessor: 'neighbour', displayName: 'token' });

/** Access rules of one page: one token, everything below sys/ and pki/. */
const accessOf = (state: SystemState): Partial<RpcService<typeof AccessDefinition>> => ({
  resolve: (request: ResolveRequest) => {
    const caller = request.token === TOKEN ? CALLER : undefined;
    const audit = messageOf(AuditContext, { caller });
    const refused = (code: string) => ({
      outcome: {
        $case: 'refused' as const,
        value: { code, detailsJson: JSON.stringify({ path: request.path }) },
      },
      auditGeneration: state.auditGeneration,
      audit,
      rateQuota: undefined,
      requestsCertificates: state.requestsCertificates,
    });
    if (state.isSealed) return Promise.reject(new KeelsonError('sys.sealed'));
    const [service = '', ...rest] = request.path.split('/');
    if (request.surface === 0 && !['sys', 'pki'].includes(service))
      return Promise.resolve(refused('sys.no_route'));
    if (request.surface === 0 && request.token !== TOKEN && rest[0] !== 'open')
      return Promise.resolve(refused('sys.permission_denied'));
    if (rest[0] === 'body-rule' && !request.hasBody)
      return Promise.resolve({
        outcome: { $case: 'needsBody' as const, value: {} },
        auditGeneration: state.auditGeneration,
        audit,
        rateQuota: undefined,
        requestsCertificates: state.requestsCertificates,
      });
    return Promise.resolve({
      outcome: {
        $case: 'allowed' as const,
        value: {
          service,
          path: `/${rest[0] === 'body-rule' ? 'echo' : rest.join('/')}`,
          namespace: { id: 'root', path: '' },
          // Engines get the certificate of a TLS client, other services do not.
          mount: rest[0] === 'mounted' ? messageOf(Mount, { path: `${service}/` }) : undefined,
          caller: undefined,
          passToken: false,
          passCertificate: false,
          passCredentials: false,
          tryAuditDevice: undefined,
          isSuperseded: state.isSuperseded,
        },
      },
      auditGeneration: state.auditGeneration,
      audit,
      rateQuota: undefined,
      requestsCertificates: state.requestsCertificates,
    });
  },
  wrap: (request) => {
    const { ttlSeconds, creationPath } = request;
    state.wrapped.set('hvs.wrapping', request);
    return Promise.resolve({
      token: 'hvs.wrapping',
      accessor: 'acc',
      ttlSeconds,
      creationTime: '2030-01-01T00:00:00Z',
      creationPath,
      wrappedAccessor: '',
    });
  },
  auditDevices: () =>
    Promise.resolve({ generation: state.auditGeneration, devices: state.devices }),
});

const USER_IDS = new Map([
  [API_TOKEN, 'user-1'],
  [SECOND_API_TOKEN, 'user-1'],
  [OTHER_API_TOKEN, 'user-2'],
]);

const identity = stubService<RpcService<typeof IdentityDefinition>>({
  identify: ({ token }) => {
    const id = USER_IDS.get(token);
    const others = { organization: '', displayName: 'one', siteAdmin: false };
    const principal = id && { kind: 'user', id, tokenId: `at-${token}`, ...others };
    return Promise.resolve({ principal: principal || undefined });
  },
});

const workloadIdentity = stubService<RpcService<typeof WorkloadIdentityDefinition>>({
  describe: () => Promise.resolve({ discoveryJson: '{"issuer":"x"}', keysJson: '{"keys":[]}' }),
});

/** A started gateway on free ports, its log lines and the state of its sys. */
export const startGateway = async (
  environment: Record<string, string> = {},
  tls?: Parameters<typeof composeGateway>[0]['tls'],
  /** Override the services of the same name here. */
  others: Partial<Parameters<typeof composeGateway>[0]['services']> = {},
  /** `access` decides about requests instead of the rules here. */
  parts: Partial<
    Pick<Parameters<typeof composeGateway>[0], 'access' | 'drainMs' | 'limits' | 'workloadIdentity'>
  > = {},
) => {
  const lines: string[] = [];
  const state: SystemState = {
    isSealed: false,
    isSuperseded: false,
    requestsCertificates: false,
    auditGeneration: 0,
    devices: [],
    wrapped: new Map(),
  };
  const gateway = composeGateway({
    registry: createRegistry('test'),
    config: parseConfig(gatewayConfig, {
      KEELSON_HTTP_PORT: '0',
      KEELSON_HTTPS_PORT: '0',
      KEELSON_RATE_LIMIT: 'off',
      ...environment,
    }),
    clock: systemClock,
    logger: createLogger({
      name: 'test',
      level: 'info',
      destination: { write: (line) => void lines.push(line) },
    }),
    services: {
      sys: edge('sys', '/v1'),
      workspace: edge('workspace', '/api/v2'),
      pki: edge('pki', '/v1/{mount}'),
      auth: edge('auth', '/v1/auth'),
      ...others,
    },
    access: stubService<RpcService<typeof AccessDefinition>>(accessOf(state)),
    identity,
    workloadIdentity,
    tls,
    ...parts,
  });
  const { addresses } = await gateway.start();
  const [http = '', https = ''] = addresses;
  return {
    http,
    https,
    port: Number(new URL(http).port),
    lines,
    state,
    stop: () => gateway.stop(),
  };
};
