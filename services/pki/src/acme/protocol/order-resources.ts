/** Orders, authorizations, challenges and certificates over HTTP (RFC 8555 §7.4–7.6). */
import { KeelsonError } from '@keelson/errors';
import { encodePem } from '@keelson/x509';
import { findCertificate } from '../../certificates/certificate-records.ts';
import type { RevocationParts } from '../../revocation/revocation-operations.ts';
import type { FirstAttempts } from '../authorizations/first-attempts.ts';
import { CHALLENGE_TYPES } from '../domain/challenge-types.ts';
import { parseAuthorizationId } from '../domain/directory.ts';
import { parseIdentifiers } from '../domain/identifier.ts';
import { mayBegin } from '../domain/may-begin.ts';
import { type Authorization, type Challenge, type Order, orderStatus } from '../domain/order.ts';
import { AcmeProblem, malformed } from '../domain/problem.ts';
import { requireTermsInForce, type Terms } from '../domain/terms-of-service.ts';
import { type FinalizeParts, finalizeOrder } from '../orders/finalize-operations.ts';
import {
  createOrder,
  deactivateAuthorization,
  type OrderParts,
  requireOrder,
} from '../orders/order-operations.ts';
import { revokeByAcme } from '../revocation/acme-revocation-operations.ts';
import { signerOf } from './account-resources.ts';
import type { AcmeAnswer } from './acme-answer.ts';
import {
  type AuthorizationPlace,
  authorizationDocument,
  challengeDocument,
  orderDocument,
} from './acme-document.ts';
import type { AcmeRequest, SignedResource } from './acme-routes.ts';
import { parsePayload, requireEmptyPayload, type SignedRequest } from './signed-request.ts';

export interface OrderResourceParts extends OrderParts, FinalizeParts, RevocationParts {
  readonly firstAttempts: FirstAttempts;
  readonly terms: Terms;
}

/** When a client that waits is to ask again, in seconds: validation takes less as a rule. */
const POLL_AFTER_SECONDS = 1;

/** The zero value of Go's time, which its clients send for a time that nobody gave. */
const ZERO_TIME_MS = Date.parse('0001-01-01T00:00:00Z');

const parseTime = (value: unknown, name: string): number | undefined => {
  if (value === undefined || value === '') return undefined;
  const isTime =
    typeof value === 'string' && /^\d{4}-\d\d-\d\d[Tt][\d:.]+(?:[Zz]|[+-]\d\d:\d\d)$/.test(value);
  const epochMs = isTime ? Date.parse(value.toUpperCase()) : Number.NaN;
  if (Number.isNaN(epochMs)) throw malformed(`"${name}" must be a time as RFC 3339 writes it`);
  return epochMs === ZERO_TIME_MS ? undefined : epochMs;
};

const parseText = (value: unknown, name: string): string | undefined => {
  if (value === undefined || typeof value === 'string') return value;
  throw malformed(`"${name}" must be a string`);
};

const base64Url = (value: unknown, name: string): Buffer => {
  if (typeof value !== 'string' || value === '' || !/^[A-Za-z0-9_-]+$/.test(value))
    throw malformed(`"${name}" must be base64url without padding`);
  return Buffer.from(value, 'base64url');
};

const orderAnswer = (
  { clock }: OrderParts,
  { directory: { urls } }: AcmeRequest,
  id: string,
  order: Order,
): AcmeAnswer => ({
  location: urls.order(id),
  body: orderDocument(urls, id, order, clock.nowMs()),
});

const newOrder = async (
  parts: OrderParts & { readonly terms: Terms },
  request: AcmeRequest,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  const body = parsePayload(signed);
  const signer = signerOf(signed);
  requireTermsInForce(parts.terms, signer.account);
  const { id, order } = await createOrder(parts, request.directory, signer.id, {
    identifiers: parseIdentifiers(body['identifiers']),
    notBeforeMs: parseTime(body['notBefore'], 'notBefore'),
    notAfterMs: parseTime(body['notAfter'], 'notAfter'),
    profile: parseText(body['profile'], 'profile'),
    replaces: parseText(body['replaces'], 'replaces'),
  });
  return { ...orderAnswer(parts, request, id, order), status: 201 };
};

const finalize = async (
  parts: OrderResourceParts,
  request: AcmeRequest,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  const orderId = request.params['order_id'] ?? '';
  const { csr } = parsePayload(signed);
  const order = await finalizeOrder(parts, request.directory, {
    account: signerOf(signed),
    orderId,
    csrDer: base64Url(csr, 'csr'),
  });
  return orderAnswer(parts, request, orderId, order);
};

/** Leaf first, then a path to a root; as many to choose from as there are (RFC 8555 §7.4.2). */
const certificate = async (
  parts: OrderResourceParts,
  { directory, params }: AcmeRequest,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  requireEmptyPayload(signed);
  const { mount, urls, authority } = directory;
  const orderId = params['order_id'] ?? '';
  const order = await requireOrder(parts.store, mount, signerOf(signed).id, orderId);
  const made = order.certificate;
  if (made === undefined)
    throw new AcmeProblem(
      'orderNotReady',
      `the order is ${orderStatus(order, parts.clock.nowMs())}`,
    );
  const der = await findCertificate(parts.store, mount, made.serialKey);
  const issuer = authority.findIssuer(made.issuerId);
  if (der === undefined) throw malformed('the certificate is not kept any more', { status: 404 });
  const paths = issuer === undefined ? [[]] : authority.pathsOf(issuer);
  const chosen = Number(params['chain'] ?? '0');
  const path = paths[chosen];
  if (path === undefined) throw malformed('there is no such chain', { status: 404 });
  const text = [encodePem('CERTIFICATE', der), ...path.map(({ pem }) => pem)].join('\n');
  return {
    body: Buffer.from(`${text.trimEnd()}\n`),
    contentType: 'application/pem-certificate-chain',
    links: paths.flatMap((_, index) =>
      index === chosen ? [] : [[urls.certificate(orderId, index), 'alternate'] as const],
    ),
  };
};

interface FoundAuthorization {
  readonly place: AuthorizationPlace;
  readonly order: Order;
  readonly authorization: Authorization;
}

const requireAuthorization = async (
  parts: OrderParts,
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
  parts: OrderParts,
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
  parts: OrderResourceParts,
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
    // RFC 8555 §7.5.1: an object; members it does not know are the client's own affair.
    parsePayload(signed);
    if (mayBegin(order, shown, type, parts.clock.nowMs())) {
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

const revoke = async (
  parts: OrderResourceParts,
  { directory }: AcmeRequest,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  const { signer, key } = signed;
  const { certificate: presented, reason } = parsePayload(signed);
  await revokeByAcme(parts, {
    mount: directory.mount,
    certificateDer: base64Url(presented, 'certificate'),
    reason,
    signer,
    signerKeyDer: key.der,
  });
  return {};
};

export const orderResources = (parts: OrderResourceParts): readonly SignedResource[] => [
  {
    path: 'new-order',
    summary: 'Order a certificate (RFC 8555 §7.4)',
    signer: 'account',
    handle: (request, signed) => newOrder(parts, request, signed),
  },
  {
    path: 'new-authz',
    summary: 'Refused: authorizations come with orders (RFC 8555 §7.4.1)',
    signer: 'account',
    handle: () => {
      throw malformed('authorizations are made with their orders, not before them', {
        status: 404,
      });
    },
  },
  {
    path: 'order/:order_id',
    summary: 'Read an order (RFC 8555 §7.4)',
    signer: 'account',
    handle: async (request, signed) => {
      requireEmptyPayload(signed);
      const id = request.params['order_id'] ?? '';
      const { mount } = request.directory;
      const order = await requireOrder(parts.store, mount, signerOf(signed).id, id);
      return orderAnswer(parts, request, id, order);
    },
  },
  {
    path: 'order/:order_id/finalize',
    summary: 'Have the certificate of an order issued (RFC 8555 §7.4)',
    signer: 'account',
    handle: (request, signed) => finalize(parts, request, signed),
  },
  {
    path: 'order/:order_id/cert',
    summary: 'The certificate of an order with its chain (RFC 8555 §7.4.2)',
    signer: 'account',
    handle: (request, signed) => certificate(parts, request, signed),
  },
  {
    path: 'order/:order_id/cert/:chain',
    summary: 'The certificate of an order with another chain (RFC 8555 §7.4.2)',
    signer: 'account',
    handle: (request, signed) => certificate(parts, request, signed),
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
  {
    path: 'revoke-cert',
    summary: 'Revoke a certificate (RFC 8555 §7.6)',
    signer: 'either',
    handle: (request, signed) => revoke(parts, request, signed),
  },
];
