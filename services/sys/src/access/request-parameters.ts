import { bufferedBody } from '@keelson/edge';
import type { ResolveRequest } from '@keelson/proto/sys/v1/access';
import { readBody, readQuery } from '@keelson/secrets-api';
import type { Operation } from './domain/operation.ts';

/** The parameters that policies judge: the body of a write, the query of a read. */
export const readParameters = async (
  request: ResolveRequest,
  operation: Operation,
): Promise<Readonly<Record<string, unknown>> | undefined> => {
  if (operation === 'read') {
    const { query } = request;
    return readQuery({ head: { query }, query: new URLSearchParams(query) });
  }
  if (!request.hasBody) return undefined;
  const headers = { 'content-type': request.contentType };
  return readBody({ head: { headers }, body: bufferedBody(request.body) });
};
