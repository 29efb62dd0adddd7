/** Orders and certificates over HTTP (RFC 8555 §7.4). */

import { encodePem } from '@keelson/x509';
import { findCertificate } from '../../certificates/certificate-records.ts';
import type { KnownAccount } from '../accounts/account-operations.ts';
import { requireOwnAccount } from '../accounts/account-routes.ts';
import { requireTermsInForce, type Terms } from '../accounts/domain/terms-of-service.ts';
import {
  base64UrlOf,
  parsePayload,
  requireEmptyPayload,
  type SignedRequest,
  signerOf,
} from '../accounts/signed-request.ts';
import { type SignedResource } from '../accounts/signed-resource.ts';
import type { AcmeAnswer } from '../answers/acme-answer.ts';
import { type AcmeRequest } from '../directories/open-resource.ts';
import { AcmeProblem, malformed } from '../problems/problem.ts';
import { parseIdentifiers } from './domain/identifier.ts';
import { type Order, orderStatus } from './domain/order.ts';
import { type FinalizeParts, finalizeOrder } from './finalize-operations.ts';
import { orderDocument } from './order-document.ts';
import { createOrder, listOrders, type OrderParts, requireOrder } from './order-operations.ts';

export interface OrderResourceParts extends OrderParts, FinalizeParts {
  readonly terms: Terms;
}

/** The zero value of Go's time, which Go clients send for a missing time. */
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
    csrDer: base64UrlOf(csr, 'csr'),
  });
  return orderAnswer(parts, request, orderId, order);
};

/** Leaf first, then a path to a root; other paths are alternates (RFC 8555 §7.4.2). */
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
  if (der === undefined) throw malformed('the certificate is no longer stored', { status: 404 });
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

const orders = async (
  parts: OrderParts,
  { directory, query }: AcmeRequest,
  account: KnownAccount,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  requireEmptyPayload(signed);
  const { mount, urls } = directory;
  const page = await listOrders(parts, mount, account.id, query.get('after') ?? undefined);
  return {
    body: { orders: page.ids.map((id) => urls.order(id)) },
    ...(page.after !== undefined && { links: [[urls.orders(account.id, page.after), 'next']] }),
  };
};

export const orderResources = (parts: OrderResourceParts): readonly SignedResource[] => [
  {
    path: 'new-order',
    summary: 'Order a certificate (RFC 8555 §7.4)',
    signer: 'account',
    handle: (request, signed) => newOrder(parts, request, signed),
  },
  {
    path: 'account/:account_id/orders',
    summary: 'List the orders of an account (RFC 8555 §7.1.2.1)',
    signer: 'account',
    handle: (request, signed) => orders(parts, request, requireOwnAccount(request, signed), signed),
  },
  {
    path: 'orders',
    summary: 'List the orders of the account that asks',
    signer: 'account',
    handle: (request, signed) => orders(parts, request, signerOf(signed), signed),
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
    summary: 'Finalize an order, which issues its certificate (RFC 8555 §7.4)',
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
];
