/** Creates, finds and lists orders (RFC 8555 §7.4). */

import { randomBytes } from 'node:crypto';
import { type MountScope } from '@keelson/engine';
import { createAddressPolicy } from '@keelson/outbound/addresses';
import type { Reads } from '@keelson/storage';
import { parseCertificate } from '@keelson/x509';
import { findCertificate } from '../../certificates/certificate-records.ts';
import { type IssuingParts, requireSigner } from '../../issuing/signing-operations.ts';
import type { PkiCounters } from '../../metrics/counters.ts';
import type { AcmeConfig } from '../config/domain/acme-config.ts';
import {
  type Issuance,
  type OpenDirectory,
  requireAcmeRole,
} from '../directories/directory-operations.ts';
import { AcmeProblem, combineProblems, malformed, type Subproblem } from '../problems/problem.ts';
import { isNamedBy, parseCertificateId } from '../renewal/domain/certificate-id.ts';
import { challengeTypesFor, type ExtraChallenges } from './domain/challenge-types.ts';
import { authorizedIdentifier, type Identifier } from './domain/identifier.ts';
import { checkIdentifiers } from './domain/identifier-acceptance.ts';
import { type Authorization, ORDER_LIFETIME_MS, type Order, orderStatus } from './domain/order.ts';
import { isOrderId, newOrderId } from './domain/order-id.ts';
import type { OpenOrders } from './open-orders.ts';
import { decideOrderLifetime } from './order-lifetime.ts';
import { certificateOriginRecords, orderKey, orderRecords, ordersOf } from './order-records.ts';

export interface OrderParts extends IssuingParts {
  readonly extraChallenges: ExtraChallenges;
  readonly openOrders: OpenOrders;
  readonly counters: PkiCounters;
}

export interface KnownOrder {
  readonly id: string;
  readonly order: Order;
}

const TOKEN_BYTES = 32;

export interface NewOrder {
  readonly identifiers: readonly Identifier[];
  readonly notBeforeMs: number | undefined;
  readonly notAfterMs: number | undefined;
  readonly profile: string | undefined;
  readonly replaces: string | undefined;
}

/**
 * The policy of an order: that of its profile if it names one, else that of its directory.
 * @throws AcmeProblem `invalidProfile`
 */
export const issuanceOf = async (
  parts: IssuingParts,
  { mount, config, profiles, issuance, urls }: OpenDirectory,
  profile: string | undefined,
): Promise<Issuance> => {
  if (profile === undefined) return issuance;
  if (!profiles.includes(profile))
    throw new AcmeProblem('invalidProfile', `${urls.directory} offers no profile "${profile}"`);
  const role = await requireAcmeRole(parts, mount, config, profile);
  // An issuer in the path takes precedence over the role's.
  const { issuerRef } = issuance;
  const isNamedInPath = urls.base.includes('/issuer/');
  return {
    kind: 'role',
    roleName: profile,
    role,
    issuerRef: isNamedInPath && issuerRef !== undefined ? issuerRef : role.issuerRef,
  };
};

/**
 * An address can only be proven by connecting to it, which the mount's address policy may never allow.
 * @throws AcmeProblem `rejectedIdentifier`
 */
const refuseUnreachable = (config: AcmeConfig, identifiers: readonly Identifier[]): void => {
  const policy = createAddressPolicy({
    permitted: config.challengePermittedIpRanges,
    excluded: config.challengeExcludedIpRanges,
  });
  const refused = identifiers.flatMap((identifier): Subproblem[] =>
    identifier.type !== 'ip' || policy.allows(identifier.value)
      ? []
      : [
          {
            type: 'rejectedIdentifier',
            detail: `the address policy does not permit ${identifier.value}, so that it could never be validated`,
            identifier,
          },
        ],
  );
  const [first, ...others] = refused;
  if (first !== undefined) throw combineProblems([first, ...others]);
};

/**
 * RFC 9773 §5: the replaced certificate must belong to this account, share a name with the order,
 * and not have been replaced yet.
 * @throws AcmeProblem `malformed`, `alreadyReplaced`
 */
const checkReplaced = async (
  reads: Reads,
  mount: MountScope,
  accountId: string,
  { replaces, identifiers }: NewOrder,
): Promise<void> => {
  if (replaces === undefined) return;
  const id = parseCertificateId(replaces);
  const origin = await certificateOriginRecords(mount).find(reads, id.serialKey);
  const der = await findCertificate(reads, mount, id.serialKey);
  const replaced =
    origin && (await orderRecords(mount).find(reads, orderKey(accountId, origin.orderId)));
  if (der === undefined || replaced === undefined || !isNamedBy(parseCertificate(der), id))
    throw malformed('"replaces" must be the id of a certificate of this account');
  const names = new Set(replaced.identifiers.map(({ value }) => value));
  if (!identifiers.some(({ value }) => names.has(value)))
    throw malformed('"replaces" names a certificate without a name of this order');
  if (origin?.replacedByOrderId !== undefined)
    throw new AcmeProblem('alreadyReplaced', 'the certificate was replaced before');
};

const newAuthorization = (
  { extraChallenges }: OrderParts,
  ordered: Identifier,
  expiresAtMs: number,
): Authorization => {
  const { identifier, wildcard } = authorizedIdentifier(ordered);
  return {
    identifier,
    wildcard,
    status: 'pending',
    expiresAtMs,
    challenges: challengeTypesFor(identifier, wildcard, extraChallenges).map((type) => ({
      type,
      // RFC 8555 §8: at least 128 bits.
      token: randomBytes(TOKEN_BYTES).toString('base64url'),
      status: 'pending',
    })),
  };
};

/** @throws AcmeProblem */
export const createOrder = async (
  parts: OrderParts,
  directory: OpenDirectory,
  accountId: string,
  request: NewOrder,
): Promise<KnownOrder> => {
  const { store, clock } = parts;
  const { mount, config, authority } = directory;
  const { identifiers, notBeforeMs, notAfterMs } = request;
  const createdAtMs = clock.nowMs();
  refuseUnreachable(config, identifiers);
  const issuance = await issuanceOf(parts, directory, request.profile);
  if (issuance.kind === 'role') {
    const { role } = issuance;
    const issuer = requireSigner(authority, issuance.issuerRef);
    const { chainRules } = authority.signingIssuerOf(issuer);
    checkIdentifiers({ role, chain: chainRules }, identifiers);
    const validity = { notBeforeMs, notAfterMs, orderedAtMs: createdAtMs };
    decideOrderLifetime(parts, { mount, config, role, issuer, ...validity });
  } else if (notBeforeMs !== undefined || notAfterMs !== undefined)
    throw malformed('the policy service decides the validity, so it cannot be requested');
  await parts.openOrders.take(mount, accountId, identifiers.length);
  const expiresAtMs = createdAtMs + ORDER_LIFETIME_MS;
  const id = newOrderId(createdAtMs, randomBytes(10));
  const order: Order = {
    accountId,
    directory: directory.path,
    ...request,
    createdAtMs,
    expiresAtMs,
    authorizations: identifiers.map((one) => newAuthorization(parts, one, expiresAtMs)),
  };
  await store.transact(async (tx) => {
    await checkReplaced(tx, mount, accountId, request);
    orderRecords(mount).write(tx, orderKey(accountId, id), order);
  });
  parts.counters.acmeOrdersCreated.inc(mount.uuid);
  return { id, order };
};

/** @throws AcmeProblem `malformed` with 404 if the account has no such order */
export const requireOrder = async (
  reads: Reads,
  mount: MountScope,
  accountId: string,
  id: string,
): Promise<Order> => {
  const order = isOrderId(id)
    ? await orderRecords(mount).find(reads, orderKey(accountId, id))
    : undefined;
  if (order === undefined)
    throw malformed('there is no such order of this account', { status: 404 });
  return order;
};

export interface OrderPage {
  readonly ids: readonly string[];
  /** Position after which the next page begins; undefined on the last page. */
  readonly after: string | undefined;
}

const PAGE_SIZE = 500;

/** RFC 8555 §7.1.2.1: one page of the orders that are not invalid. */
export const listOrders = async (
  { store, clock }: IssuingParts,
  mount: MountScope,
  accountId: string,
  after: string | undefined,
): Promise<OrderPage> => {
  if (after !== undefined && !isOrderId(after))
    throw malformed('"after" is not the id of an order');
  const orders = await ordersOf(mount, accountId).entries(store, {
    limit: PAGE_SIZE,
    ...(after !== undefined && { after }),
  });
  const nowMs = clock.nowMs();
  return {
    ids: orders.filter(([, order]) => orderStatus(order, nowMs) !== 'invalid').map(([id]) => id),
    after: orders.length < PAGE_SIZE ? undefined : orders.at(-1)?.[0],
  };
};
