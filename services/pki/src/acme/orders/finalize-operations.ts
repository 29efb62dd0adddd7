/** Issues the certificate of a validated order (RFC 8555 §7.4). */

import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { type ParsedCsr, toSerialKey } from '@keelson/x509';
import { writeCertificate } from '../../certificates/certificate-records.ts';
import type { IssuerInUse } from '../../issuers/domain/authority.ts';
import { checkCsrKey } from '../../issuing/domain/key-rules.ts';
import { type IssuingParts, requireSigner } from '../../issuing/signing-operations.ts';
import type { PkiCounters } from '../../metrics/counters.ts';
import { STRICT_NAMES } from '../../names/domain/alternative-names.ts';
import { acceptsCommonName } from '../../roles/domain/name-acceptance.ts';
import type { Role } from '../../roles/domain/role.ts';
import type { KnownAccount } from '../accounts/account-operations.ts';
import { keyOfAccount } from '../accounts/imported-keys.ts';
import type { OpenDirectory } from '../directories/directory-operations.ts';
import type { SignatureChecks } from '../jws/signature-checks.ts';
import { AcmeProblem } from '../problems/problem.ts';
import { parseCertificateId } from '../renewal/domain/certificate-id.ts';
import {
  checkOrderedCsr,
  chooseCommonName,
  MAX_COMMON_NAME_LENGTH,
  refuseTlsFeature,
} from './domain/csr-check.ts';
import type { Identifier } from './domain/identifier.ts';
import type { IssuancePolicy, PolicyCertificate } from './domain/issuance-policy.ts';
import { type Order, orderStatus } from './domain/order.ts';
import { decideOrderLifetime, longestTtlSeconds } from './order-lifetime.ts';
import { issuanceOf, type KnownOrder, requireOrder } from './order-operations.ts';
import { certificateOriginRecords, orderKey, orderRecords } from './order-records.ts';

export interface FinalizeParts extends IssuingParts {
  readonly policy: IssuancePolicy;
  readonly signatures: SignatureChecks;
  readonly counters: PkiCounters;
}

/** Turns errors about the CSR, including refusals by role or issuer, into `badCSR`. */
const asBadCsr = (error: unknown): unknown =>
  error instanceof KeelsonError && error.httpStatus < 500
    ? new AcmeProblem('badCSR', error.message, { cause: error })
    : error;

/** @throws AcmeProblem `badCSR` for an invalid CSR or a key known to be compromised */
const readCsr = async (
  { compromisedKeys, signatures }: FinalizeParts,
  mount: MountScope,
  der: Uint8Array,
): Promise<ParsedCsr> => {
  try {
    const csr = await signatures.readCsr(der);
    await compromisedKeys.refuse(mount, () => csr.publicKeyDer);
    return csr;
  } catch (error) {
    throw asBadCsr(error);
  }
};

const requireReady = (order: Order, nowMs: number): void => {
  const status = orderStatus(order, nowMs);
  if (status !== 'ready') throw new AcmeProblem('orderNotReady', `the order is ${status}`);
};

/** The common name; "" where the role needs none, or no name is short enough for one. */
const commonNameFor = (role: Role, asked: string, identifiers: readonly Identifier[]): string => {
  const isAddress = identifiers.some(({ type, value }) => type === 'ip' && value === asked);
  // An address is not a host name. If the role does not accept it as common name, it is still an
  // alternative name.
  const isFit = asked !== '' && asked.length <= MAX_COMMON_NAME_LENGTH;
  if (isFit && !(isAddress && !acceptsCommonName(role, asked))) return asked;
  return role.requireCn ? chooseCommonName(identifiers) : '';
};

interface Finalizing {
  readonly directory: OpenDirectory;
  readonly account: KnownAccount;
  readonly known: KnownOrder;
  readonly csrDer: Uint8Array;
}

const issueUnderRole = async (
  parts: FinalizeParts,
  { directory, known: { order } }: Finalizing,
  csr: ParsedCsr,
  commonNameOfCsr: string,
  { role, issuer }: { readonly role: Role; readonly issuer: IssuerInUse },
): Promise<PolicyCertificate> => {
  const { mount, config, authority } = directory;
  checkCsrKey(role, csr.keyAlgorithm);
  refuseTlsFeature(csr);
  const valuesOf = (type: Identifier['type']): readonly string[] =>
    order.identifiers.filter((one) => one.type === type).map(({ value }) => value);
  const { notBeforeMs, notAfterMs, createdAtMs } = order;
  const lifetime = decideOrderLifetime(parts, {
    mount,
    config,
    role,
    issuer,
    notBeforeMs,
    notAfterMs,
    orderedAtMs: createdAtMs,
  });
  const commonName = commonNameFor(role, commonNameOfCsr, order.identifiers);
  // The names were proven, and clients read the SANs, so that a certificate without a common name is as good.
  const rules = { ...role, requireCn: role.requireCn && commonName !== '' };
  const made = await parts.maker.make(mount.uuid, authority.signingIssuerOf(issuer), rules, {
    kind: 'proven',
    names: {
      commonName,
      altNames: valuesOf('dns'),
      ipSans: valuesOf('ip'),
      uriSans: [],
      otherSans: [],
      serialNumber: '',
      userIds: [],
      excludeCnFromSans: true,
      rules: STRICT_NAMES,
    },
    publicKeyDer: csr.publicKeyDer,
    notBeforeMs: lifetime.notBeforeMs,
    notAfterMs: lifetime.notAfterMs,
  });
  return {
    der: made.der,
    serialKey: toSerialKey(made.serialNumber),
    notAfterMs: made.notAfterMs,
    issuerId: issuer.issuer.id,
  };
};

const issue = async (parts: FinalizeParts, finalizing: Finalizing): Promise<PolicyCertificate> => {
  const { directory, account, known, csrDer } = finalizing;
  const csr = await readCsr(parts, directory.mount, csrDer);
  const { der: accountKeyDer } = keyOfAccount(account.account);
  const { commonName } = checkOrderedCsr(csr, known.order.identifiers, accountKeyDer);
  const issuance = await issuanceOf(parts, directory, known.order.profile);
  if (issuance.kind === 'external-policy')
    return parts.policy.issue({
      mount: directory.mount,
      policyName: issuance.policyName,
      issuerRef: issuance.issuerRef,
      maxTtlSeconds: longestTtlSeconds(directory),
      accountId: account.id,
      account: account.account,
      orderId: known.id,
      order: known.order,
      csrDer,
      csr,
    });
  // Not converted to `badCSR`, because another CSR would not help if the issuer cannot sign.
  const issuer = requireSigner(directory.authority, issuance.issuerRef);
  const { role } = issuance;
  try {
    return await issueUnderRole(parts, finalizing, csr, commonName, { role, issuer });
  } catch (error) {
    throw asBadCsr(error);
  }
};

export interface FinalizeRequest {
  readonly account: KnownAccount;
  readonly orderId: string;
  readonly csrDer: Uint8Array;
}

/**
 * Issues the certificate of an order. The certificate, the order and the mark on the certificate it
 * replaces are one commit. Of two concurrent requests, one is refused, and its certificate is
 * neither stored nor returned.
 * @throws AcmeProblem `orderNotReady`, `badCSR`
 */
export const finalizeOrder = async (
  parts: FinalizeParts,
  directory: OpenDirectory,
  { account, orderId, csrDer }: FinalizeRequest,
): Promise<Order> => {
  const { store, clock } = parts;
  const { mount } = directory;
  const order = await requireOrder(store, mount, account.id, orderId);
  requireReady(order, clock.nowMs());
  const known = { id: orderId, order };
  const made = await issue(parts, { directory, account, known, csrDer });
  const finished = await store.transact(async (tx) => {
    const current = await requireOrder(tx, mount, account.id, orderId);
    requireReady(current, clock.nowMs());
    const changed: Order = {
      ...current,
      outcome: 'valid',
      certificate: {
        serialKey: made.serialKey,
        issuerId: made.issuerId,
        notAfterMs: made.notAfterMs,
      },
    };
    orderRecords(mount).write(tx, orderKey(account.id, orderId), changed);
    writeCertificate(tx, mount, made.serialKey, made.der);
    const origins = certificateOriginRecords(mount);
    origins.write(tx, made.serialKey, { accountId: account.id, orderId });
    if (current.replaces !== undefined) {
      const { serialKey } = parseCertificateId(current.replaces);
      const replaced = await origins.find(tx, serialKey);
      if (replaced !== undefined && replaced.replacedByOrderId === undefined)
        origins.write(tx, serialKey, { ...replaced, replacedByOrderId: orderId });
    }
    return changed;
  });
  parts.counters.acmeOrdersFinished.inc(mount.uuid);
  return finished;
};
