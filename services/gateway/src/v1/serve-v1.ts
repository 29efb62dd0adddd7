/** /v1: one decision of sys for each request, then the owning service. */
import {
  clientCertificateHeaders,
  type EdgeBody,
  type EdgeResponse,
  type EdgeService,
  isEdgeMethod,
  methodRefused,
} from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  type AccessDefinition,
  type Allowed,
  type AuditContext,
  type Resolution,
  type ResolveRequest,
  Surface,
} from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { requireAllowed } from '../access/resolution.ts';
import type { ServeExchange } from '../answers/answer-with.ts';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { clientNetwork } from '../limits/client-network.ts';
import type { RateQuotas } from '../limits/rate-quotas.ts';
import type { Shares } from '../limits/shares.ts';
import { type BodyLimits, bodyRules } from '../request/body-rules.ts';
import type { ClientCertificates } from '../request/client-certificate.ts';
import type { Exchange } from '../request/exchange.ts';
import {
  AUDITED_REQUEST,
  basicCredentials,
  bearerToken,
  forwardedHeaders,
  isAllowedAnswerHeader,
  PRESENTED_CREDENTIALS,
  PRESENTED_TOKEN,
  serviceHeader,
} from '../request/header-names.ts';
import { hasArrived, streamedBody, wholeBody } from '../request/incoming-body.ts';
import { parseWrapTtlSeconds, wrapResponse } from './wrapped-response.ts';

const NOTHING = Buffer.alloc(0);
type AboutBody = Pick<ResolveRequest, 'body' | 'hasBody' | 'bodyFollows' | 'clientCertificates'>;
const WITHOUT_BODY: AboutBody = {
  body: NOTHING,
  hasBody: false,
  bodyFollows: false,
  clientCertificates: [],
};
const BEFORE_BODY: AboutBody = { ...WITHOUT_BODY, bodyFollows: true };

/** Bodies of any size, which are neither held in memory nor recorded by audit devices. */
const isSnapshot = (path: string): boolean =>
  /^sys\/storage\/raft\/snapshot(-force)?\/?$/.test(path);

type Question = Omit<ResolveRequest, 'body' | 'hasBody' | 'bodyFollows' | 'clientCertificates'>;

/**
 * Whether it is a question of load balancers and operators about the process itself. It is answered without an
 * entry, so that it can be asked while no audit device accepts one, and so that a check every second fills no disk.
 */
const isUnrecorded = ({ path, method, namespace }: Question): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  namespace === '' &&
  /^sys\/(health|seal-status|leader|init)\/?$/.test(path);

export interface V1Parts {
  readonly access: RpcService<typeof AccessDefinition>;
  readonly services: Readonly<Record<string, EdgeService>>;
  readonly audit: AuditRecorder;
  readonly bodies: BodyLimits;
  readonly shares: Shares;
  readonly quotas: RateQuotas;
  readonly clientCertificates: ClientCertificates;
  /** Time limit of snapshots in both directions. */
  readonly transferTimeLimitMs: number;
  /** Public base URL of this API, when one is configured. */
  readonly publicUrl: string | undefined;
}

/** Removes the headers that the mount may not answer with. */
const withAllowedHeaders = (response: EdgeResponse, allowed: readonly string[]): EdgeResponse =>
  response.head.headers.every(({ name }) => isAllowedAnswerHeader(name, allowed))
    ? response
    : {
        ...response,
        head: {
          ...response.head,
          headers: response.head.headers.filter(({ name }) => isAllowedAnswerHeader(name, allowed)),
        },
      };

/** The question to sys about a request, without the body. */
const toQuestion = ({ head, request, token }: Exchange): Question => ({
  surface: Surface.V1,
  token: token ?? (serviceHeader(request.headers, 'token') || bearerToken(request.headers)),
  namespace: serviceHeader(request.headers, 'namespace') ?? '',
  path: head.path.slice(1),
  method: head.method,
  remoteAddress: head.remoteAddress,
  wrapTtlSeconds: parseWrapTtlSeconds(serviceHeader(request.headers, 'wrapTtl')),
  wrapFormat: serviceHeader(request.headers, 'wrapFormat') === 'jwt' ? 'jwt' : '',
  requestId: head.requestId,
  contentType: request.headers['content-type'] ?? '',
  query: head.query,
  index: serviceHeader(request.headers, 'index') ?? '',
});

/**
 * Whoever may act in a namespace uses its share. Without a token it is the address, as strangers may ask for CRLs,
 * OCSP and ACME of any namespace. The root namespace belongs to the site, whose mounts are apart.
 */
const tenantOf = (
  { namespace, mount }: Allowed,
  { caller }: AuditContext,
  address: string,
): string => {
  if (caller === undefined) return `address ${clientNetwork(address)}`;
  const [top = ''] = (namespace?.path ?? '').split('/');
  return top === '' ? `mount ${mount?.path ?? ''}` : `namespace ${top}`;
};

const forward = async (
  { services, clientCertificates }: V1Parts,
  exchange: Exchange,
  allowed: Allowed,
  body: EdgeBody,
  token: string,
): Promise<EdgeResponse> => {
  const { head, request } = exchange;
  const service = services[allowed.service];
  if (service === undefined)
    throw new KeelsonError('edge.backend_unavailable', { service: allowed.service });
  const { mount } = allowed;
  const headers =
    mount === undefined || mount.passthroughRequestHeaders.length === 0
      ? head.headers
      : forwardedHeaders(request.headers, mount.passthroughRequestHeaders);
  const needsCertificates = mount !== undefined || allowed.passCertificate;
  const forwarded = {
    ...head,
    headers: {
      ...headers,
      ...(allowed.passToken && { [PRESENTED_TOKEN]: token }),
      ...(allowed.passCredentials && {
        [PRESENTED_CREDENTIALS]: basicCredentials(request.headers),
      }),
      ...(needsCertificates && clientCertificateHeaders(clientCertificates(request))),
    },
    path: allowed.path,
    namespace: allowed.namespace,
    mount,
    caller: allowed.caller,
  };
  const response = await service.handle(exchange.toService(forwarded, body));
  if (mount === undefined) return response;
  const audited = response.head.headers.find(({ name }) => name === AUDITED_REQUEST);
  if (audited !== undefined)
    exchange.auditedRequest = Buffer.from(audited.value, 'base64').toString();
  return withAllowedHeaders(response, mount.allowedResponseHeaders);
};

/**
 * Counts the request for the quota of its path.
 * @throws KeelsonError `request.quota_exceeded` for one too many
 */
const requireWithinQuota = async (
  { quotas, audit }: V1Parts,
  exchange: Exchange,
  { path, token }: Question,
  { rateQuota, auditGeneration, audit: context }: Resolution,
): Promise<void> => {
  if (rateQuota === undefined) return;
  const { isAllowed, headers, resetSeconds } = await quotas.count(
    rateQuota,
    exchange.head.remoteAddress,
  );
  if (rateQuota.statesLimits) Object.assign(exchange.answerHeaders, headers);
  if (isAllowed) return;
  exchange.answerHeaders['retry-after'] = String(Math.max(1, Math.ceil(resetSeconds)));
  const refuse = () => Promise.reject(new KeelsonError('request.quota_exceeded', { path }));
  if (rateQuota.auditsRefusals && (await audit.isEnabled(auditGeneration)))
    await audit.record({ exchange, path, body: undefined, context, token }, refuse);
  await refuse();
};

interface Decided {
  readonly resolution: Resolution;
  readonly body: EdgeBody;
}

/**
 * Asks sys about the request, and again when the body has arrived: rights that end in the meantime
 * have ended for this request, too.
 */
const decide = async (parts: V1Parts, exchange: Exchange, question: Question): Promise<Decided> => {
  const { access, bodies, clientCertificates } = parts;
  const { request } = exchange;
  const ask = (about: AboutBody) => access.resolve({ ...question, ...about }, exchange);
  const isWhole = hasArrived(request);
  const first = await ask(isWhole ? WITHOUT_BODY : BEFORE_BODY);
  await requireWithinQuota(parts, exchange, question, first);
  const { outcome } = first;
  if (outcome?.$case === 'allowed' && isSnapshot(question.path)) {
    exchange.limitTo(parts.transferTimeLimitMs);
    const confirm = async (): Promise<void> => {
      if (!isWhole) requireAllowed(await ask(WITHOUT_BODY));
    };
    return { resolution: first, body: streamedBody(request, Number.MAX_SAFE_INTEGER, confirm) };
  }
  const isAnonymous = first.audit?.caller === undefined;
  const body = await wholeBody(request, bodyRules(bodies, exchange, isAnonymous));
  if (outcome?.$case === 'refused' || (isWhole && outcome?.$case === 'allowed'))
    return { resolution: first, body };
  const askWithBody = async (): Promise<Resolution> => {
    const resolution = await ask({
      body: Buffer.from(await body.bytes(bodies.bodyBytes)),
      hasBody: true,
      bodyFollows: false,
      clientCertificates: clientCertificates(request).map((der) => Buffer.from(der)),
    });
    if (resolution.rateQuota?.isFoundByBody)
      await requireWithinQuota(parts, exchange, question, resolution);
    return resolution;
  };
  if (outcome?.$case === 'needsBody') return { resolution: await askWithBody(), body };
  const second = await ask(WITHOUT_BODY);
  // A policy with parameter rules may have been written in the meantime.
  const needsBody = second.outcome?.$case === 'needsBody';
  return { resolution: needsBody ? await askWithBody() : second, body };
};

const decideAndServe = async (parts: V1Parts, exchange: Exchange): Promise<EdgeResponse> => {
  const { access, audit, publicUrl, shares } = parts;
  const { head } = exchange;
  const question = toQuestion(exchange);
  const { resolution, body } = await decide(parts, exchange, question);
  const { audit: about } = resolution;
  exchange.account = {
    mount: about && `${about.namespace?.path ?? ''}${about.mountPath}`,
    caller: about?.caller?.displayName,
  };

  const isProbe = isUnrecorded(question);
  const isAudited = !isProbe && (await audit.isEnabled(resolution.auditGeneration));

  const serve = async (): Promise<EdgeResponse> => {
    const allowed = requireAllowed(resolution);
    exchange.group = `v1/${allowed.service}`;
    if (allowed.tryAuditDevice !== undefined) await audit.tryDevice(allowed.tryAuditDevice);
    if (about !== undefined) exchange.tenant = tenantOf(allowed, about, head.remoteAddress);
    const ask = () => forward(parts, exchange, allowed, body, question.token);
    const isApart = isProbe || isSnapshot(question.path);
    const response = await (isApart ? ask() : shares.take(exchange.tenant, exchange, ask));
    return question.wrapTtlSeconds === 0
      ? response
      : wrapResponse(access, response, {
          ttlSeconds: question.wrapTtlSeconds,
          wrapFormat: question.wrapFormat,
          apiAddress: publicUrl ?? '',
          creationPath: question.path,
          namespace: allowed.namespace,
          requestId: head.requestId,
        });
  };
  return isAudited
    ? audit.record(
        {
          exchange,
          path: question.path,
          body: body.buffered === undefined ? undefined : body,
          context: resolution.audit,
          token: question.token,
        },
        serve,
      )
    : serve();
};

export const createServeV1 =
  (parts: V1Parts): ServeExchange =>
  async (exchange) => {
    if (!isEdgeMethod(exchange.head.method)) throw methodRefused();
    return decideAndServe(parts, exchange);
  };
