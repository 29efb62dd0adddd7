/** /api/v2: the workspace service identifies the caller, sys decides whether the cluster serves requests. */
import { type EdgeBody, type EdgeResponse, type EdgeService, inTurns } from '@keelson/edge';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { RpcService } from '@keelson/rpc';
import { createClusterQuestion } from '../access/cluster-question.ts';
import { requireNotRefused } from '../access/resolution.ts';
import type { ServeExchange } from '../answers/answer-with.ts';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { clientNetwork } from '../limits/client-network.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import type { Shares } from '../limits/shares.ts';
import { type BodyLimits, bodyRules, webhookBodyRules } from '../request/body-rules.ts';
import { bearerToken } from '../request/header-names.ts';
import { hasArrived, streamedBody, wholeBody } from '../request/incoming-body.ts';
import { isSignedAddress, recordedPath } from '../request/signed-address.ts';
import { isWebhookAddress } from '../request/webhook-address.ts';

export interface ApiV2Parts {
  readonly access: RpcService<typeof AccessDefinition>;
  readonly identity: RpcService<typeof IdentityDefinition>;
  readonly workspace: EdgeService;
  readonly rateLimit: RateLimit;
  readonly shares: Shares;
  readonly audit: AuditRecorder;
  readonly bodies: BodyLimits;
  /** Largest upload to a signed address. */
  readonly uploadLimitBytes: number;
  /** Time limit of uploads and downloads at signed addresses. */
  readonly transferTimeLimitMs: number;
}

const callerName = (principal: Principal | undefined, address: string): string =>
  principal === undefined
    ? `address ${clientNetwork(address)}`
    : `${principal.kind} ${principal.id}`;

/** Never what the path names: a caller would use the share of a stranger. */
const tenantOf = (principal: Principal | undefined, address: string): string =>
  principal === undefined || principal.organization === ''
    ? callerName(principal, address)
    : `organization ${principal.organization}`;

/** The organization that a path names. */
const organizationOf = (path: string): string | undefined =>
  /^\/organizations\/([^/]+)/.exec(path)?.[1];

const bodyInTurns = (body: EdgeBody, turn: () => Promise<void>): EdgeBody => ({
  ...body,
  chunks: () => inTurns(body.chunks(), turn),
});

const answerInTurns = (answer: EdgeResponse, turn: () => Promise<void>): EdgeResponse => {
  const { body } = answer;
  return body instanceof Uint8Array ? answer : { ...answer, body: inTurns(body, turn) };
};

export const createServeApiV2 = (parts: ApiV2Parts): ServeExchange => {
  const { access, identity, workspace, rateLimit, shares, audit } = parts;

  const askCluster = createClusterQuestion(access);

  return async (exchange) => {
    const { head, request, answerHeaders } = exchange;
    const token = bearerToken(request.headers);
    const resolution = await askCluster();
    requireNotRefused(resolution);
    const identify = async (): Promise<Principal | undefined> =>
      token === '' ? undefined : (await identity.identify({ token }, exchange)).principal;
    const isWhole = hasArrived(request);
    let principal = await identify();

    const { isAllowed, headers } = await rateLimit.count(callerName(principal, head.remoteAddress));
    if (!isAllowed) throw exchange.rateLimited(headers);
    Object.assign(answerHeaders, headers);

    const isAudited = await audit.isEnabled(resolution.auditGeneration);
    // Large bodies are neither held in memory nor recorded.
    const isTransfer = isSignedAddress(head.path);
    if (isTransfer) exchange.limitTo(parts.transferTimeLimitMs);
    // At a signed address, the service looks the rights up again when the body has been stored.
    // A client that is slow, or gone, ends the reading of the pieces by itself.
    const turn = () => shares.turn(exchange.tenant);
    const body = isTransfer
      ? bodyInTurns(streamedBody(request, parts.uploadLimitBytes), turn)
      : await wholeBody(
          request,
          isWebhookAddress(head.path)
            ? webhookBodyRules(parts.bodies, exchange)
            : bodyRules(parts.bodies, exchange, principal === undefined),
        );
    if (!isWhole && !isTransfer) principal = await identify();
    exchange.account = {
      organization: organizationOf(head.path) ?? principal?.organization,
      caller: principal?.displayName,
    };
    exchange.tenant = tenantOf(principal, head.remoteAddress);
    const handle = () => workspace.handle(exchange.toService({ ...head, principal }, body));
    const serve = () =>
      isTransfer
        ? shares
            .turn(exchange.tenant, exchange.signal)
            .then(handle)
            .then((answer) => answerInTurns(answer, turn))
        : shares.take(exchange.tenant, exchange, handle);
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
