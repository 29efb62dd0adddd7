/**
 * Downloads at signed addresses, which carry no token. An address names the token it was made for, and a
 * download has the rights of that token when it arrives.
 */
import type { EdgeResponse, Route } from '@keelson/edge';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { notFound } from '../../base/not-found.ts';
import {
  type SignedExchange,
  type SignedRoute,
  signedRoute,
} from '../../base/signed-urls/signed-routes.ts';
import type { IdentityContext } from '../../identity/seams/identity-context.ts';
import { findPrincipalOf } from '../../identity/tokens/principal-operations.ts';

export interface SignedDownload<Path extends string>
  extends Pick<SignedRoute, 'summary' | 'mediaTypes' | 'signedIn'> {
  /** Path of the object; the id of the token follows, and the signature where that is in the path. */
  readonly path: Path & `/downloads/${string}`;
  /**
   * Sends the object to its reader, the owner of the token in the address.
   * @throws KeelsonError `workspace.not_found` unless the reader may read the object now
   */
  handle(this: void, exchange: SignedExchange<Path>, reader: Principal): Promise<EdgeResponse>;
}

export const signedDownload = <const Path extends string>(
  context: IdentityContext,
  tag: string,
  { path, handle, ...described }: SignedDownload<Path>,
): Route =>
  signedRoute<string>(context, tag, {
    ...described,
    method: 'GET',
    path:
      described.signedIn === 'path' ? `${path}/:token_id/:expires/:signature` : `${path}/:token_id`,
    handle: async (exchange) => {
      const { tokenOwners, store, clock } = context;
      const tokenId = exchange.params['token_id'] ?? '';
      const reader = await findPrincipalOf(tokenOwners, store, tokenId, clock.nowMs());
      // The token was revoked or has expired, or its owner is gone.
      if (reader === undefined) throw notFound('token');
      return handle(exchange as SignedExchange<Path>, reader);
    },
  });
