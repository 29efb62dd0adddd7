/**
 * Records an exchange: the request before it is served, the answer before it is sent. Of a GET that a live stream
 * repeats, only the answers that the client gets are recorded.
 */
import type { EdgeBody, EdgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { AuditContext, AuditDevice } from '@keelson/proto/sys/v1/access';
import { isJsonObject } from '@keelson/secrets-api';
import { responseBytes } from '../answers/response-bytes.ts';
import type { Exchange, RepeatedGet } from '../request/exchange.ts';
import type { AuditLog } from './audit-log.ts';
import type { AuditedCaller, AuditedExchange } from './domain/audit-entry.ts';
import type { Json } from './domain/readable-names.ts';

export interface RecordedExchange {
  readonly exchange: Exchange;
  /** Full path without the leading slash: "pki/issue/web", "api/v2/organizations". */
  readonly path: string;
  /** Body, already in memory; undefined if body, query and response content are not recorded. */
  readonly body: EdgeBody | undefined;
  readonly principal?: Principal | undefined;
  readonly context: AuditContext | undefined;
  /** The token of the caller that `context` describes. */
  readonly token?: string;
}

export interface AuditRecorder {
  isEnabled(generation: number): Promise<boolean>;
  /**
   * @throws KeelsonError `request.invalid` when a device to be enabled does not accept the test
   * entry
   */
  tryDevice(device: AuditDevice): Promise<void>;
  /** @throws errors of `serve`; KeelsonError `audit.not_recorded` in place of an answer */
  record(recorded: RecordedExchange, serve: () => Promise<EdgeResponse>): Promise<EdgeResponse>;
}

const OPERATIONS: Readonly<Record<string, string>> = {
  GET: 'read',
  HEAD: 'header',
  LIST: 'list',
  POST: 'update',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  OPTIONS: 'read',
};

const parseJson = (bytes: Uint8Array): Json | undefined => {
  if (bytes.byteLength === 0) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as Json;
  } catch {
    return undefined;
  }
};

/** Body and query parameters, both of which are the caller's input. */
const requestData = (body: Uint8Array, query: string): Json | undefined => {
  const document = parseJson(body);
  if (query === '') return document;
  const parameters = Object.fromEntries(new URLSearchParams(query));
  return isJsonObject(document)
    ? { ...parameters, ...(document as object) }
    : (document ?? parameters);
};

const callerOf = ({
  principal,
  context,
  token = '',
}: RecordedExchange): AuditedCaller | undefined => {
  if (context?.caller !== undefined) return { ...context.caller, token };
  return principal === undefined
    ? undefined
    : {
        accessor: principal.tokenId,
        token: '',
        tokenHash: '',
        displayName: principal.displayName,
        policies: [],
        entityId: principal.id,
        tokenType: principal.kind,
        metadata: {
          token_id: principal.tokenId,
          ...(principal.organization !== '' && { organization: principal.organization }),
          ...(principal.siteAdmin && { site_admin: 'true' }),
        },
      };
};

const toAudited = async (recorded: RecordedExchange): Promise<AuditedExchange> => {
  const { exchange, path, body, context } = recorded;
  const { head } = exchange;
  return {
    requestId: head.requestId,
    operation: OPERATIONS[head.method] ?? head.method.toLowerCase(),
    path,
    remoteAddress: head.remoteAddress,
    namespace: context?.namespace ?? { id: 'root', path: '' },
    mountType: context?.mountType ?? '',
    mountAccessor: context?.mountAccessor ?? '',
    caller: callerOf(recorded),
    data: requestData(
      (await body?.bytes(Number.MAX_SAFE_INTEGER)) ?? new Uint8Array(0),
      body === undefined ? '' : head.query,
    ),
    isJsonApi: path.startsWith('api/v2/'),
    plainRequestKeys: context?.nonHmacRequestKeys ?? [],
    plainResponseKeys: context?.nonHmacResponseKeys ?? [],
  };
};

/** The answer's document; for a protocol without documents, the service's account of the request. */
const answerData = (
  { exchange }: RecordedExchange,
  body: Uint8Array | undefined,
): Json | undefined =>
  exchange.auditedRequest === ''
    ? body && parseJson(body)
    : { request: parseJson(Buffer.from(exchange.auditedRequest)) ?? null };

const EMPTY = new Uint8Array(0);

export const createAuditRecorder = (log: AuditLog): AuditRecorder => {
  const recordError = (audited: AuditedExchange, error: KeelsonError): Promise<void> =>
    log.response(audited, { status: error.httpStatus, data: undefined, error: error.message });

  const recordAnswer = (
    recorded: RecordedExchange,
    audited: AuditedExchange,
    status: number,
    body: Uint8Array | undefined,
  ): Promise<void> =>
    log.response(audited, {
      status,
      data: answerData(recorded, body),
      error: status >= 400 ? `status ${status}` : '',
    });

  /** Records both entries when the answer is to be sent, which is right only for a request that changes nothing. */
  const recordSent = async (
    recorded: RecordedExchange,
    { limitBytes, isSent }: RepeatedGet,
    serve: () => Promise<EdgeResponse>,
  ): Promise<EdgeResponse> => {
    let response: EdgeResponse;
    let body: Uint8Array;
    try {
      response = await serve();
      body = await responseBytes(response, limitBytes);
    } catch (thrown) {
      const error = KeelsonError.from(thrown);
      if (isSent(error.httpStatus, EMPTY)) {
        const audited = await toAudited(recorded);
        await log.request(audited);
        await recordError(audited, error);
      }
      throw thrown;
    }
    const { status } = response.head;
    if (isSent(status, body)) {
      const audited = await toAudited(recorded);
      await log.request(audited);
      await recordAnswer(recorded, audited, status, recorded.body && body);
    }
    return { ...response, body };
  };

  return {
    isEnabled: (generation) => log.follow(generation),
    tryDevice: (device) => log.tryDevice(device),
    record: async (recorded, serve) => {
      const { repeated } = recorded.exchange;
      if (repeated !== undefined) return recordSent(recorded, repeated, serve);
      const audited = await toAudited(recorded);
      await log.request(audited);
      let response: EdgeResponse;
      try {
        response = await serve();
      } catch (thrown) {
        await recordError(audited, KeelsonError.from(thrown));
        throw thrown;
      }
      const body = recorded.body === undefined ? undefined : await responseBytes(response);
      await recordAnswer(recorded, audited, response.head.status, body);
      return body === undefined ? response : { ...response, body };
    },
  };
};
