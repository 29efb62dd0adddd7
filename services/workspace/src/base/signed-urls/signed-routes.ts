/**
 * Routes authorized by a signed URL, without a token and without a JSON:API document. The gateway
 * allows larger bodies for uploads below /uploads/ and leaves the signature out of the audit log.
 */
import { type EdgeResponse, edgeResponse, type Route, type RouteExchange } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { ParamsOf } from '@keelson/jsonapi';
import type { ServiceContext } from '../service-context.ts';
import type { SignedMethod } from './domain/url-signature.ts';
import { isSignedRequest } from './signed-url-operations.ts';

/** An exchange whose parameters the template of its path names. */
export type SignedExchange<Path extends string> = Omit<RouteExchange, 'params'> & {
  readonly params: ParamsOf<Path>;
};

export interface SignedRoute<Path extends string = string> {
  readonly method: SignedMethod;
  readonly path: Path & (`/uploads/${string}` | `/downloads/${string}`);
  readonly summary: string;
  /** Types of what a download may contain. */
  readonly mediaTypes?: readonly string[];
  /** Place of the signature: with 'path', the path ends with `/:expires/:signature`. */
  readonly signedIn?: 'path';
  /** undefined is sent as 204. */
  handle(this: void, exchange: SignedExchange<Path>): Promise<EdgeResponse | undefined>;
}

export const signedRoute = <const Path extends string>(
  context: ServiceContext,
  tag: string,
  { method, path, summary, mediaTypes = [], signedIn, handle }: SignedRoute<Path>,
): Route => ({
  method,
  path,
  operation: () => ({
    tags: [tag],
    summary,
    security: [],
    responses: {
      ...(method === 'PUT'
        ? { 204: { description: 'Received.' } }
        : {
            200: {
              description: 'The content.',
              content: Object.fromEntries(mediaTypes.map((type) => [type, {}])),
            },
          }),
      403: { $ref: '#/components/responses/Refused' },
      default: { $ref: '#/components/responses/Refused' },
    },
  }),
  handle: async (exchange) => {
    const { head, query, params } = exchange;
    const [signed, expires, signature] =
      signedIn === 'path'
        ? [head.path.split('/').slice(0, -2).join('/'), params['expires'], params['signature']]
        : [head.path, query.get('expires'), query.get('signature')];
    if (!(await isSignedRequest(context, method, signed, expires ?? '', signature ?? ''))) {
      throw new KeelsonError('workspace.address_not_signed');
    }
    // The router has matched the path, so the exchange has the parameters of its template.
    const matched = exchange as unknown as SignedExchange<Path>;
    return (await handle(matched)) ?? edgeResponse(204);
  },
});
