/** Clients with a key pair are authorized at their provider by a person, who is sent there and comes back. */

import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { RepositoryFailure } from '@keelson/repositories';
import type { Reads } from '@keelson/storage';
import { publicAddress } from '../../base/public-address.ts';
import {
  connectPath,
  type OAuthClient,
  type OAuthToken,
  type RequestSigning,
  signingOf,
} from '../../workspaces/model/domain/oauth-client.ts';
import { requireOAuthClientOn } from '../../workspaces/model/part-switch-records.ts';
import { connectClient, requireOAuthClient } from '../../workspaces/oauth/oauth-operations.ts';
import { isSameSecret } from '../model/secret-comparison.ts';
import type { ProviderRequest } from '../providers/provider.ts';
import { sendForForm } from '../providers/provider-requests.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import {
  accessTokenRequest,
  authorizeUrl,
  requestTokenOf,
  requestTokenRequest,
  tokenOf,
} from './application-link.ts';
import { pendingAuthorizations } from './authorization-records.ts';

/** Bitbucket's own limit of a request token. */
const ENDS_AFTER_MS = 10 * 60 * 1000;

const conflict = (text: string): KeelsonError => new KeelsonError('workspace.conflict', { text });

/** @throws KeelsonError `workspace.conflict` for a client whose token was given */
const requireSigning = (client: OAuthClient): RequestSigning => {
  const signing = signingOf(client);
  if (signing !== null) return signing;
  throw conflict(
    'the client has an oauth-token-string: only clients with a key pair are authorized',
  );
};

const ask = async <T>(
  { outbound }: VcsContext,
  request: ProviderRequest,
  read: (form: URLSearchParams) => T,
): Promise<T> => {
  try {
    return read(await sendForForm(outbound, request));
  } catch (error) {
    if (!(error instanceof RepositoryFailure)) throw error;
    throw new KeelsonError('workspace.provider_failed', { text: error.message }, { cause: error });
  }
};

const isOwn = (
  { kind, id }: Pick<Principal, 'kind' | 'id'>,
  principal: Pick<Principal, 'kind' | 'id'>,
): boolean => principal.kind === kind && principal.id === id;

export interface BegunAuthorization {
  readonly clientId: string;
  /** The page of the provider on which the person allows the access. */
  readonly authorizeUrl: string;
  readonly expiresAtMs: number;
}

/**
 * Begins to authorize a client. The provider sends the person back to the public address: an address that the
 * caller could choose would get the code with which somebody else has allowed the access.
 * @throws KeelsonError `workspace.not_found`, `workspace.conflict`, `workspace.provider_failed`
 */
export const beginAuthorization = async (
  context: VcsContext,
  principal: Principal,
  clientId: string,
): Promise<BegunAuthorization> => {
  const { store, clock } = context;
  const { client, organization } = await requireOAuthClient(store, principal, clientId);
  await requireOAuthClientOn(store, client);
  const signing = requireSigning(client);
  const path = connectPath(client, organization.name);
  const callbackUrl = path && publicAddress(context, path);
  if (callbackUrl === null) {
    throw conflict(
      'KEELSON_PUBLIC_URL is not set: the provider would not know where to send you back',
    );
  }
  const request = requestTokenRequest(client, signing, callbackUrl);
  const requestToken = await ask(context, request, requestTokenOf);
  const expiresAtMs = clock.nowMs() + ENDS_AFTER_MS;
  await store.transact(async (tx) => {
    await requireOAuthClient(tx, principal, clientId);
    const { kind, id } = principal;
    pendingAuthorizations.write(tx, [clientId], {
      requestToken,
      principal: { kind, id },
      expiresAtMs,
    });
  });
  return { clientId, authorizeUrl: authorizeUrl(client, requestToken), expiresAtMs };
};

const requirePending = async (
  reads: Reads,
  principal: Principal,
  clientId: string,
  requestToken: string,
  nowMs: number,
): Promise<void> => {
  const pending = await pendingAuthorizations.find(reads, clientId);
  const isPending =
    pending !== undefined &&
    isSameSecret(requestToken, pending.requestToken) &&
    isOwn(pending.principal, principal) &&
    pending.expiresAtMs > nowMs;
  if (isPending) return;
  throw conflict(
    'you have begun no authorization of this client with this oauth-token in the last 10 minutes, or it has ended: begin again',
  );
};

/**
 * Ends an authorization that the caller has begun: each is ended once. The provider gives out the token of the
 * client for what it has sent back with the person.
 * @throws KeelsonError `workspace.not_found`, `workspace.conflict`, `workspace.provider_failed`
 */
export const completeAuthorization = async (
  context: VcsContext,
  principal: Principal,
  clientId: string,
  { requestToken, verifier }: { readonly requestToken: string; readonly verifier: string },
): Promise<OAuthToken> => {
  const { store, clock } = context;
  // The attempt is used up before the provider is asked, so that no second request asks with it.
  const client = await store.transact(async (tx) => {
    const found = await requireOAuthClient(tx, principal, clientId);
    await requireOAuthClientOn(tx, found.client);
    await requirePending(tx, principal, clientId, requestToken, clock.nowMs());
    pendingAuthorizations.delete(tx, clientId);
    return found.client;
  });
  const signing = requireSigning(client);
  const request = accessTokenRequest(client, signing, requestToken, verifier);
  const token = await ask(context, request, tokenOf);
  return store.transact(async (tx) => {
    const { client: current } = await requireOAuthClient(tx, principal, clientId);
    return connectClient(context, tx, current, token);
  });
};
