import { bufferedBody } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { RequestHead } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { expect, test } from 'vitest';
import { createErrorRenderer } from './error-document.ts';

const render = (thrown: unknown) => {
  const { head, body } = createErrorRenderer(() => undefined)(thrown, {
    head: messageOf(RequestHead, { requestId: 'r-1' }),
    body: bufferedBody(new Uint8Array()),
    signal: new AbortController().signal,
  });
  return { status: head.status, document: JSON.parse(Buffer.from(body as Uint8Array).toString()) };
};

test.for([
  ['request.malformed_json', '400', 'bad request'],
  ['jsonapi.unauthorized', '401', 'unauthorized'],
  ['workspace.forbidden', '403', 'forbidden'],
  ['workspace.not_found', '404', 'not found'],
  ['request.unsupported_operation', '405', 'method not allowed'],
  ['workspace.already_locked', '409', 'conflict'],
  ['workspace.state_mismatch', '412', 'precondition failed'],
  ['request.too_large', '413', 'payload too large'],
  ['request.unsupported_media_type', '415', 'unsupported media type'],
  ['jsonapi.invalid_attribute', '422', 'invalid attribute'],
  ['request.rate_limited', '429', 'Too many requests'],
  ['workspace.state_pending', '503', 'service unavailable'],
  ['request.deadline_exceeded', '504', 'gateway timeout'],
] as const)('%s is shown as %s, %s', ([code, status, title]) => {
  const thrown = new KeelsonError(code, {});
  expect(render(thrown)).toEqual({
    status: Number(status),
    document: { errors: [{ status, title, detail: thrown.message }] },
  });
});
