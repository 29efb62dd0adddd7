import { bufferedBody, type EdgeRequest, type EdgeService, edgeResponse } from '@keelson/edge';
import { Caller, Mount, RequestHead } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';

const BODY_BYTES = 600;
const BODY = Buffer.alloc(BODY_BYTES, 'k');

/** Reads a 600-byte body and responds with one: the minimum of a real handler. */
export const echoService: EdgeService = {
  handle: async ({ body }) =>
    edgeResponse(200, { 'content-type': 'application/json' }, await body.bytes(BODY_BYTES)),
  describe: () => Promise.reject(new Error('not described')),
  check: () => Promise.resolve([]),
  position: () => Promise.resolve(undefined),
};

/** A request as the gateway sends it: the headers of an ordinary client, a mount and a caller. */
export const edgeRequest = (): EdgeRequest => ({
  head: messageOf(RequestHead, {
    requestId: '0197a2c4-6f0e-7c3b-9d55-2b1f6f3f5a10',
    method: 'POST',
    path: '/issue/web',
    headers: {
      'content-type': 'application/json',
      'content-length': String(BODY_BYTES),
      accept: '*/*',
      'user-agent': 'bench/1.0',
      host: 'keelson.example:8443',
    },
    remoteAddress: '127.0.0.1',
    baseUrl: 'https://keelson.example:8443',
    namespace: { id: 'root', path: '' },
    mount: messageOf(Mount, {
      uuid: '5f2b8f0e-31d1-4bd2-a6a5-8a4c17ee0c19',
      accessor: 'pki_1f0a3c55',
      type: 'pki',
      path: 'pki/',
      defaultLeaseTtlSeconds: 2_764_800,
      maxLeaseTtlSeconds: 2_764_800,
    }),
    caller: messageOf(Caller, {
      accessor: 'X7mDq0Zl4dT1cVbN2sPfHkRa',
      tokenHash: 'd2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df27458ed8229da804a26',
      displayName: 'token',
      policies: ['default', 'issue-web'],
      tokenType: 'service',
    }),
  }),
  body: bufferedBody(BODY),
  signal: new AbortController().signal,
  timeoutMs: 60_000,
});
