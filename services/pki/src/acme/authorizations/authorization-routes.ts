/** Authorizations and challenges over HTTP (RFC 8555 §7.5). */
import { KeelsonError } from '@keelson/errors';
import { parsePayload, type SignedRequest, signerOf } from '../accounts/signed-request.ts';
import type { SignedResource } from '../accounts/signed-resource.ts';
import type { AcmeAnswer } from '../answers/acme-answer.ts';
import { parseAuthorizationId } from '../directories/domain/directory.ts';
import type { AcmeRequest } from '../directories/open-resource.ts';
import { CHALLENGE_TYPES } from '../orders/domain/challenge-types.ts';
import type { Authorization, Challenge, Order } from '../orders/domain/order.ts';
import { type OrderParts, requireOrder } from '../orders/order-operations.ts';
import { malformed } from '../problems/problem.ts';
import {
  type AuthorizationRef,
  authorizationDocument,
  challengeDocument,
} from './authorization-document.ts';
import { deactivateAuthorization } from './authorization-operations.ts';
import { isStartable } from './domain/startable.ts';
import type { FirstAttempts } from './first-attempts.ts';

export interface AuthorizationParts extends OrderParts {
  readonly firstAttempts: FirstAttempts;
}

/**
 * `Retry-After` for a client that waits for validation, in seconds; validation usually takes less.
 */
const POLL_AFTER_SECONDS = 1;

interface FoundAuthorization {
  readonly place: AuthorizationRef;
  readonly order: Order;
  readonly authorization: Authorization;
}

const requireAuthorization = async (
  parts: AuthorizationParts,
  { directory, params }: AcmeRequest,
  signed: SignedRequest,
): Promise<FoundAuthorization> => {
  const place = parseAuthorizationId(params['authorization_id'] ?? '');
  const order =
    place && (await requireOrder(parts.store, directory.mount, signerOf(signed).id, place.orderId));
  const authorization = place && order?.authorizations[place.index];
  if (place === undefined || order === undefined || authorization === undefined)
    throw malformed('there is no such authorization of this account', { status: 404 });
  return { place, order, authorization };
};

const isUnderWay = ({ challenges, status }: Authorization): boolean =>
  status === 'pending' && challenges.some((one) => one.status === 'processing');

const authorization = async (
  parts: AuthorizationParts,
  request: AcmeRequest,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  const { mount, urls } = request.directory;
  const found = await requireAuthorization(parts, request, signed);
  const { place } = found;
  let shown = found.authorization;
  if (signed.payload !== '') {
    const { status } = parsePayload(signed);
    if (status !== 'deactivated')
      throw malformed('the status of an authorization can only be changed to "deactivated"');
    const changed = await deactivateAuthorization(parts, mount, signerOf(signed).id, place);
    shown = changed.authorizations[place.index] ?? shown;
  }
  return {
    body: authorizationDocument(urls, place, shown, parts.clock.nowMs()),
    ...(isUnderWay(shown) && { retryAfterSeconds: POLL_AFTER_SECONDS }),
  };
};

const findChallenge = (
  { challenges }: Authorization,
  wanted: string | undefined,
): Challenge | undefined => challenges.find(({ type }) => type === wanted);

const challenge = async (
  parts: AuthorizationParts,
  request: AcmeRequest,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  const { mount, urls } = request.directory;
  const found = await requireAuthorization(parts, request, signed);
  const { place, order } = found;
  const type = CHALLENGE_TYPES.find((one) => one === request.params['type']);
  let shown = found.authorization;
  if (type === undefined || findChallenge(shown, type) === undefined)
    throw malformed('there is no such challenge', { status: 404 });
  if (signed.payload !== '') {
    // RFC 8555 §7.5.1: the payload must be an object; its members are ignored.
    parsePayload(signed);
    if (isStartable(order, shown, type, parts.clock.nowMs())) {
      const { id: accountId, account } = signerOf(signed);
      const { orderId, index: authorizationIndex } = place;
      const asked = { mount, accountId, orderId, authorizationIndex, type };
      shown = await parts.firstAttempts.begin(asked, account, shown);
    }
  }
  const tried = findChallenge(shown, type);
  if (tried === undefined) throw new KeelsonError('internal');
  return {
    body: challengeDocument(urls, place, tried),
    links: [[urls.authorization(place.orderId, place.index), 'up']],
    ...(isUnderWay(shown) && { retryAfterSeconds: POLL_AFTER_SECONDS }),
  };
};

export const authorizationResources = (parts: AuthorizationParts): readonly SignedResource[] => [
  {
    path: 'new-authz',
    summary: 'Refused: authorizations come with orders (RFC 8555 §7.4.1)',
    signer: 'account',
    handle: () => {
      throw malformed('authorizations are created with their orders, not in advance', {
        status: 404,
      });
    },
  },
  {
    path: 'authorization/:authorization_id',
    summary: 'Read an authorization or give it up (RFC 8555 §7.5)',
    signer: 'account',
    handle: (request, signed) => authorization(parts, request, signed),
  },
  {
    path: 'challenge/:authorization_id/:type',
    summary: 'Read a challenge, or have it validated (RFC 8555 §7.5.1)',
    signer: 'account',
    handle: (request, signed) => challenge(parts, request, signed),
  },
];
