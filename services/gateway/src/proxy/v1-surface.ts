/** /v1: one decision of sys for each request, then the owning service. */
import {
  type EdgeBody,
  type EdgeResponse,
  type EdgeService,
  isEdgeMethod,
  methodRefused,
  RememberedAnswers,
} from '@keelson/edge';
import { createNetworks } from '@keelson/edge/networks';
import { type ErrorCode, type ErrorParams, KeelsonError } from '@keelson/errors';
import {
  type AccessDefinition,
  type Allowed,
  type Resolution,
  type ResolveRequest,
  Surface,
} from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { clientNetwork } from '../limits/client-network.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import { clientCertificateHeader } from '../tls/client-certificate.ts';
import { type BodyLimits, bodyRules } from './body-rules.ts';
import type { Exchange } from './exchange.ts';
import {
  AUDITED_REQUEST,
  bearerToken,
  forwardedHeaders,
  isAllowedAnswerHeader,
  PRESENTED_TOKEN,
  serviceHeader,
} from './header-names.ts';
import { incomingBody } from './incoming-body.ts';
import {
  answerKey,
  type DecisionStates,
  isRepeatable,
  OVERHEAD_BYTES,
  type RememberedAnswer,
} from './remembered-answers.ts';
import { parseWrapTtlSeconds, wrapResponse } from './wrapped-response.ts';

/** Who asks from here is an operator, a script of theirs, or a proxy that nobody configured as one. */
const LOOPBACK = createNetworks(['127.0.0.0/8', '::1']);

const NOTHING = Buffer.alloc(0);

export interface V1Parts {
  readonly access: RpcService<typeof AccessDefinition>;
  readonly services: Readonly<Record<string, EdgeService>>;
  readonly audit: AuditRecorder;
  /** For each client address but those of this machine. */
  readonly rateLimit: RateLimit;
  readonly bodies: BodyLimits;
  /** Where clients reach this API, when it is configured. */
  readonly publicUrl: string | undefined;
  /** Given where sys is in this process: answers that still hold are then given again. */
  readonly decisionState: DecisionStates | undefined;
}

/** Errors decoded from a Refused message: sys speaks the same closed list. */
export const refusalOf = (code: string, detailsJson: string): KeelsonError =>
  new KeelsonError(
    code as ErrorCode,
    detailsJson === '' ? {} : (JSON.parse(detailsJson) as ErrorParams),
  );

const allowedIn = ({ outcome }: Resolution): Allowed => {
  if (outcome?.$case === 'allowed') return outcome.value;
  if (outcome?.$case === 'refused') throw refusalOf(outcome.value.code, outcome.value.detailsJson);
  throw new KeelsonError('internal');
};

/** Only headers that the mount may answer with. */
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

export type ServeExchange = (exchange: Exchange) => Promise<EdgeResponse>;

export const createV1Surface = (parts: V1Parts): ServeExchange => {
  const { access, services, audit, rateLimit, bodies, publicUrl, decisionState } = parts;

  const forward = async (
    exchange: Exchange,
    allowed: Allowed,
    body: EdgeBody,
    token: string,
  ): Promise<EdgeResponse> => {
    const { head, request, signal, timeoutMs } = exchange;
    const service = services[allowed.service];
    if (service === undefined)
      throw new KeelsonError('edge.backend_unavailable', { service: allowed.service });
    const { mount } = allowed;
    const headers =
      mount === undefined || mount.passthroughRequestHeaders.length === 0
        ? head.headers
        : forwardedHeaders(request.headers, mount.passthroughRequestHeaders);
    const added = allowed.passToken
      ? { [PRESENTED_TOKEN]: token }
      : mount && clientCertificateHeader(request);
    const response = await service.handle({
      head: {
        ...head,
        headers: added === undefined ? headers : { ...headers, ...added },
        path: allowed.path,
        namespace: allowed.namespace,
        mount,
        caller: allowed.caller,
      },
      body,
      signal,
      timeoutMs,
    });
    if (mount === undefined) return response;
    const audited = response.head.headers.find(({ name }) => name === AUDITED_REQUEST);
    if (audited !== undefined)
      exchange.auditedRequest = Buffer.from(audited.value, 'base64').toString();
    return withAllowedHeaders(response, mount.allowedResponseHeaders);
  };

  /** @param body when it was read already */
  const decideAndServe = async (
    exchange: Exchange,
    readBody?: EdgeBody,
  ): Promise<{ response: EdgeResponse; isAudited: boolean }> => {
    const { head, request, signal } = exchange;
    const token =
      exchange.token ?? (serviceHeader(request.headers, 'token') || bearerToken(request.headers));
    const wrapTtlSeconds = parseWrapTtlSeconds(serviceHeader(request.headers, 'wrapTtl'));
    const wrapFormat = serviceHeader(request.headers, 'wrapFormat') === 'jwt' ? 'jwt' : '';
    const question: ResolveRequest = {
      surface: Surface.V1,
      token,
      namespace: serviceHeader(request.headers, 'namespace') ?? '',
      path: head.path.slice(1),
      method: head.method,
      remoteAddress: head.remoteAddress,
      wrapTtlSeconds,
      wrapFormat,
      body: NOTHING,
      hasBody: false,
      requestId: head.requestId,
      contentType: request.headers['content-type'] ?? '',
      query: head.query,
      index: serviceHeader(request.headers, 'index') ?? '',
    };
    let resolution = await access.resolve(question, { signal });
    const isAudited = await audit.isEnabled(resolution.auditGeneration);
    const needsBody = resolution.outcome?.$case === 'needsBody';
    const isAnonymous = resolution.audit?.caller === undefined;
    const body =
      readBody ??
      (await incomingBody(
        request,
        bodyRules(bodies, exchange, isAnonymous, isAudited || needsBody),
      ));
    if (needsBody)
      resolution = await access.resolve(
        { ...question, body: Buffer.from(await body.bytes(bodies.bodyBytes)), hasBody: true },
        { signal },
      );

    const serve = async (): Promise<EdgeResponse> => {
      const allowed = allowedIn(resolution);
      exchange.group = `v1/${allowed.service}`;
      if (allowed.tryAuditDevice !== undefined) await audit.tryDevice(allowed.tryAuditDevice);
      const response = await forward(exchange, allowed, body, token);
      return wrapTtlSeconds === 0
        ? response
        : wrapResponse(access, response, {
            ttlSeconds: wrapTtlSeconds,
            wrapFormat,
            apiAddress: publicUrl ?? '',
            creationPath: question.path,
            namespace: allowed.namespace,
            requestId: head.requestId,
          });
    };
    const response = isAudited
      ? await audit.record(
          { exchange, path: question.path, body, context: resolution.audit },
          serve,
        )
      : await serve();
    return { response, isAudited };
  };

  const answers = new RememberedAnswers<RememberedAnswer>(OVERHEAD_BYTES);

  /** The answer to a request without credentials: one that is known to hold, else as to any other. */
  const recallOrServe = async (
    exchange: Exchange,
    decisions: DecisionStates,
  ): Promise<EdgeResponse> => {
    const { head, request } = exchange;
    const body = await incomingBody(request, bodyRules(bodies, exchange, true, false));
    const key = answerKey(request.url ?? '/', head.method, body);
    // Before the decision: what changes during it counts as changed.
    const state = await decisions();
    if (state === undefined) answers.clear();
    const known = answers.find(key);
    if (known !== undefined && known.state === state && (await known.response.stands())) {
      exchange.group = known.group;
      return known.response;
    }
    const { response, isAudited } = await decideAndServe(exchange, body);
    const { stands } = response;
    if (state !== undefined && stands !== undefined && !isAudited)
      answers.put(key, { state, response: { ...response, stands }, group: exchange.group });
    return response;
  };

  return async (exchange) => {
    const { head, request } = exchange;
    exchange.group = 'v1';
    exchange.answerHeaders['cache-control'] = 'no-store';
    if (!LOOPBACK.includes(head.remoteAddress)) {
      const { isAllowed, headers } = await rateLimit.count(clientNetwork(head.remoteAddress));
      if (!isAllowed) throw exchange.rateLimited(headers);
    }
    if (!isEdgeMethod(head.method)) throw methodRefused();
    return decisionState !== undefined && isRepeatable(head.method, request)
      ? recallOrServe(exchange, decisionState)
      : (await decideAndServe(exchange)).response;
  };
};
