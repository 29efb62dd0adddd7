/** /api/v2: who calls is the workspace service's answer, whether the cluster serves is sys's. */
import type { EdgeService } from '@keelson/edge';
import { edgeResponse } from '@keelson/edge';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type AccessDefinition, Surface } from '@keelson/proto/sys/v1/access';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { RpcService } from '@keelson/rpc';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { clientNetwork } from '../limits/client-network.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import { type BodyLimits, bodyRules } from './body-rules.ts';
import type { Exchange } from './exchange.ts';
import { bearerToken } from './header-names.ts';
import { incomingBody } from './incoming-body.ts';
import { isSignedAddress, recordedPath } from './signed-address.ts';
import { refusalOf, type ServeExchange } from './v1-surface.ts';

/** What provisioning clients look for before anything else; they refuse a version below 2.5. */
const API_HEADERS = { 'tfp-api-version': '2.6', 'tfp-appname': 'Keelson' } as const;

const NOTHING = Buffer.alloc(0);

export interface ApiV2Parts {
  readonly access: RpcService<typeof AccessDefinition>;
  readonly identity: RpcService<typeof IdentityDefinition>;
  readonly workspace: EdgeService;
  readonly rateLimit: RateLimit;
  readonly audit: AuditRecorder;
  readonly bodies: BodyLimits;
  /** Of what is put to a signed address. */
  readonly uploadLimitBytes: number;
  /** For what comes and goes at a signed address. */
  readonly transferTimeLimitMs: number;
}

const callerName = (principal: Principal | undefined, address: string): string =>
  principal === undefined
    ? `address ${clientNetwork(address)}`
    : `${principal.kind} ${principal.id}`;

export const createApiV2Surface = (parts: ApiV2Parts): ServeExchange => {
  const { access, identity, workspace, rateLimit, audit } = parts;

  const resolve = (exchange: Exchange) =>
    access.resolve(
      {
        surface: Surface.API_V2,
        token: '',
        namespace: '',
        path: exchange.head.path.slice(1),
        method: exchange.head.method,
        remoteAddress: exchange.head.remoteAddress,
        wrapTtlSeconds: 0,
        wrapFormat: '',
        body: NOTHING,
        hasBody: false,
        requestId: exchange.head.requestId,
        contentType: '',
        query: '',
        index: '',
      },
      { signal: exchange.signal },
    );

  return async (exchange) => {
    const { head, request, signal, answerHeaders } = exchange;
    exchange.group = 'api_v2';
    Object.assign(answerHeaders, API_HEADERS);
    if (head.path === '/ping') {
      // Clients limit themselves to this rate from the first call on.
      if (rateLimit.perSecond !== undefined)
        answerHeaders['x-ratelimit-limit'] = String(rateLimit.perSecond);
      return edgeResponse(204);
    }
    const token = bearerToken(request.headers);
    const resolution = await resolve(exchange);
    if (resolution.outcome?.$case === 'refused')
      throw refusalOf(resolution.outcome.value.code, resolution.outcome.value.detailsJson);
    const { principal } =
      token === '' ? { principal: undefined } : await identity.identify({ token }, { signal });

    const { isAllowed, headers } = await rateLimit.count(callerName(principal, head.remoteAddress));
    if (!isAllowed) throw exchange.rateLimited(headers);
    Object.assign(answerHeaders, headers);

    const isAudited = await audit.isEnabled(resolution.auditGeneration);
    // Large: neither held in memory nor put on record.
    const isTransfer = isSignedAddress(head.path);
    if (isTransfer) exchange.limitTo(parts.transferTimeLimitMs);
    const { timeoutMs } = exchange;
    const body = await incomingBody(
      request,
      isTransfer
        ? { limitBytes: parts.uploadLimitBytes, isWhole: false }
        : bodyRules(parts.bodies, exchange, principal === undefined, isAudited),
    );
    const serve = () => workspace.handle({ head: { ...head, principal }, body, signal, timeoutMs });
    return isAudited
      ? audit.record(
          {
            exchange,
            path: `api/v2${recordedPath(head.path)}`,
            body: isTransfer ? undefined : body,
            principal,
            context: resolution.audit,
          },
          serve,
        )
      : serve();
  };
};
