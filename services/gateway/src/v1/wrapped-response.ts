/** Response wrapping: the finished response is stored in sys, and a single-use token is sent instead. */
import type { EdgeResponse } from '@keelson/edge';
import { edgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Namespace } from '@keelson/proto/edge/v1/edge';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { isJsonObject, parseDurationSeconds } from '@keelson/secrets-api';
import { responseBytes } from '../answers/response-bytes.ts';

/**
 * Lifetime in seconds from a wrap header; 0 when there is none. @throws KeelsonError
 * `request.invalid`
 */
export const parseWrapTtlSeconds = (text: string | undefined): number => {
  if (text === undefined || text === '') return 0;
  const seconds = parseDurationSeconds(text);
  if (seconds === undefined || seconds < 0 || seconds > 0xffff_ffff)
    throw new KeelsonError('request.invalid', {
      text: 'the wrap TTL must be a number of seconds or a duration such as 5m',
    });
  return seconds;
};

export interface WrapOrder {
  readonly ttlSeconds: number;
  readonly wrapFormat: string;
  readonly apiAddress: string;
  readonly creationPath: string;
  readonly namespace: Namespace | undefined;
  readonly requestId: string;
}

const accessorOf = (auth: unknown): string =>
  isJsonObject(auth) && typeof auth['accessor'] === 'string' ? auth['accessor'] : '';

const parseDocument = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as unknown;
  } catch {
    return undefined;
  }
};

/**
 * The response to send in place of `response`. Errors, empty or non-JSON responses, and those that already
 * carry wrap_info are sent unchanged.
 */
export const wrapResponse = async (
  access: RpcService<typeof AccessDefinition>,
  response: EdgeResponse,
  order: WrapOrder,
): Promise<EdgeResponse> => {
  const { status } = response.head;
  if (status >= 300 || status === 204) return response;
  const bytes = await responseBytes(response);
  const document = parseDocument(bytes);
  if (!isJsonObject(document) || isJsonObject(document['wrap_info']))
    return { ...response, body: bytes };
  const info = await access.wrap({
    ttlSeconds: order.ttlSeconds,
    wrapFormat: order.wrapFormat,
    apiAddress: order.apiAddress,
    response: Buffer.from(bytes),
    creationPath: order.creationPath,
    namespace: order.namespace,
    wrappedAccessor: accessorOf(document['auth']),
  });
  const wrapInfo = {
    token: info.token,
    accessor: info.accessor,
    ttl: info.ttlSeconds,
    creation_time: info.creationTime,
    creation_path: info.creationPath,
    ...(info.wrappedAccessor === '' ? {} : { wrapped_accessor: info.wrappedAccessor }),
  };
  const envelope = {
    request_id: order.requestId,
    lease_id: '',
    renewable: false,
    lease_duration: 0,
    data: null,
    wrap_info: wrapInfo,
    warnings: null,
    auth: null,
  };
  return edgeResponse(
    200,
    { 'content-type': 'application/json' },
    Buffer.from(JSON.stringify(envelope)),
  );
};
