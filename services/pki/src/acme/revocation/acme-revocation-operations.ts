/** Revocation by the owner of the account, the key, or the names of a certificate (RFC 8555 §7.6). */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import { hasCode } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import {
  EXTENSION,
  findExtension,
  isRevocationReason,
  isSamePublicKey,
  type ParsedCertificate,
  parseCertificate,
  parseGeneralNames,
  toSerialKey,
} from '@keelson/x509';
import type { Revoker } from '../../certificates/domain/revoker.ts';
import { revocationRecords } from '../../certificates/revocation-records.ts';
import type { Authority } from '../../issuers/domain/authority.ts';
import {
  type CertificateKind,
  changeBy,
  judge,
  type PermittedRevocation,
  type RevocationDoor,
  rightOf,
} from '../../revocation/domain/revocation-table.ts';
import {
  acceptPresented,
  carryOutRevocation,
  kindOf,
  type RevocationParts,
} from '../../revocation/revocation-operations.ts';
import type { KnownAccount } from '../accounts/account-operations.ts';
import { authorizationStatus } from '../orders/domain/order.ts';
import {
  type CertificateOrigin,
  certificateOriginRecords,
  ordersOf,
} from '../orders/order-records.ts';
import { AcmeProblem, malformed } from '../problems/problem.ts';

export interface AcmeRevocation {
  readonly mount: MountScope;
  readonly certificateDer: Uint8Array;
  /** As the client sent it; undefined if absent. */
  readonly reason: unknown;
  /** The account that signed the request; undefined if the certificate's key did. */
  readonly signer: KnownAccount | undefined;
  /** SubjectPublicKeyInfo of the key that signed the request. */
  readonly signerKeyDer: Uint8Array;
}

const readCertificate = (der: Uint8Array): ParsedCertificate => {
  try {
    return parseCertificate(der);
  } catch (error) {
    if (!hasCode(error, 'pki.malformed')) throw error;
    throw malformed('"certificate" is not a certificate', { cause: error });
  }
};

const PAGE_SIZE = 200;

/**
 * Whether the account has valid authorizations for all these names, even if another account ordered
 * the certificate.
 */
const holdsAll = async (
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  mount: MountScope,
  accountId: string,
  names: readonly string[],
): Promise<boolean> => {
  const missing = new Set(names);
  const records = ordersOf(mount, accountId);
  const nowMs = clock.nowMs();
  let after: string | undefined;
  do {
    const page = await records.entries(store, {
      limit: PAGE_SIZE,
      ...(after !== undefined && { after }),
    });
    for (const [, order] of page)
      for (const authorization of order.authorizations) {
        const { identifier, wildcard } = authorization;
        if (authorizationStatus(authorization, nowMs) !== 'valid') continue;
        missing.delete(`${identifier.type}:${wildcard ? '*.' : ''}${identifier.value}`);
        // An authorization for a wildcard was proven in the DNS, so it also covers the parent name.
        if (wildcard) missing.delete(`dns:${identifier.value}`);
      }
    after = page.length < PAGE_SIZE ? undefined : page.at(-1)?.[0];
  } while (missing.size > 0 && after !== undefined);
  return names.length > 0 && missing.size === 0;
};

const namesOf = ({ extensions }: ParsedCertificate): readonly string[] => {
  const extension = findExtension(extensions, EXTENSION.subjectAltName);
  return (extension === undefined ? [] : parseGeneralNames(extension.value)).map((name) =>
    name.kind === 'dns' || name.kind === 'ip' ? `${name.kind}:${name.value}` : name.kind,
  );
};

/** The way by which the request came, judged by who signed it. */
const doorOf = async (
  parts: RevocationParts,
  { mount, signer, signerKeyDer }: AcmeRevocation,
  certificate: ParsedCertificate,
  origin: CertificateOrigin | undefined,
): Promise<RevocationDoor> => {
  if (signer === undefined)
    return isSamePublicKey(certificate.publicKeyDer, signerKeyDer)
      ? 'acme-key-holder'
      : 'acme-stranger';
  if (origin?.accountId === signer.id) return 'acme-orderer';
  const holds = origin && (await holdsAll(parts, mount, signer.id, namesOf(certificate)));
  return holds ? 'acme-name-holder' : 'acme-stranger';
};

/** @throws AcmeProblem `unauthorized`, `badRevocationReason` */
const permit = (
  door: RevocationDoor,
  kind: CertificateKind,
  reason: unknown,
): PermittedRevocation => {
  const isReason = reason === undefined || isRevocationReason(reason);
  const verdict = judge(door, kind, isReason ? reason : undefined);
  if (verdict.kind === 'permitted' && isReason) return verdict.permitted;
  if (verdict.kind === 'forbidden')
    throw new AcmeProblem(
      'unauthorized',
      'neither the account nor the key of the request may revoke this certificate',
    );
  const reasons = rightOf(door, kind)?.reasons ?? [];
  throw new AcmeProblem('badRevocationReason', `"reason" must be one of ${reasons.join(', ')}`);
};

const alreadyRevoked = (): AcmeProblem =>
  new AcmeProblem('alreadyRevoked', 'the certificate was revoked before');

/** The certificate of the request, which the mount must have issued. */
const acceptCertificate = async (
  parts: RevocationParts,
  { mount, certificateDer }: AcmeRevocation,
  authority: Authority,
): Promise<ParsedCertificate> => {
  const presented = readCertificate(certificateDer);
  try {
    return await acceptPresented(parts, mount, presented, authority);
  } catch (error) {
    if (!hasCode(error, 'request.invalid')) throw error;
    throw malformed('the certificate was not issued here', { status: 404, cause: error });
  }
};

/**
 * @throws AcmeProblem `malformed`, `badRevocationReason`, `unauthorized`, `alreadyRevoked`
 */
export const revokeByAcme = async (
  parts: RevocationParts,
  request: AcmeRevocation,
): Promise<void> => {
  const { mount } = request;
  const authority = await parts.authorities.of(mount);
  const certificate = await acceptCertificate(parts, request, authority);
  const serialKey = toSerialKey(certificate.serialNumber);
  const origin = await certificateOriginRecords(mount).find(parts.store, serialKey);
  const kind = kindOf(authority, certificate, origin !== undefined);
  const door = await doorOf(parts, request, certificate, origin);
  const permitted = permit(door, kind, request.reason);
  // Answered without building the lists again, which a client could otherwise ask for at will.
  const before = await revocationRecords(mount).find(parts.store, serialKey);
  if (changeBy(permitted, before) === 'unchanged') throw alreadyRevoked();
  const { signer } = request;
  const by: Revoker =
    signer === undefined
      ? { kind: 'certificate-key' }
      : { kind: 'acme-account', accountId: signer.id };
  const revocationCase = { mount, authority, certificate, permitted, by };
  const outcome = await carryOutRevocation(parts, revocationCase);
  if (outcome.kind === 'expired') throw malformed('the certificate has expired');
  // Another request was faster.
  if (outcome.change === 'unchanged') throw alreadyRevoked();
};
