/** Revocation by the owner of the account, the key, or the names of a certificate (RFC 8555 §7.6). */

import type { Clock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import {
  EXTENSION,
  encodePem,
  findExtension,
  isSamePublicKey,
  type ParsedCertificate,
  parseCertificate,
  parseGeneralNames,
  REVOCATION_REASON,
  type RevocationReason,
  toSerialKey,
} from '@keelson/x509';
import { findCertificate } from '../../certificates/certificate-records.ts';
import { revocationRecords } from '../../certificates/revocation-records.ts';
import type { MountScope } from '../../mounts/mount-records.ts';
import { type RevocationParts, revokeCertificate } from '../../revocation/revocation-operations.ts';
import type { KnownAccount } from '../accounts/account-operations.ts';
import { authorizationStatus } from '../orders/domain/order.ts';
import { certificateOriginRecords, orderKey, orderRecords } from '../orders/order-records.ts';
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

/**
 * Reasons that a subscriber can know. The others are for the CA to give (2, 9, 10), not final (6,
 * 8), or unused (7). RFC 8555 §7.6 leaves the choice to the server.
 */
const REASONS: readonly RevocationReason[] = [
  REVOCATION_REASON.unspecified,
  REVOCATION_REASON.keyCompromise,
  REVOCATION_REASON.affiliationChanged,
  REVOCATION_REASON.superseded,
  REVOCATION_REASON.cessationOfOperation,
];

/** The recorded reason; undefined for `unspecified` and when none is given. */
const readReason = ({ reason, signer }: AcmeRevocation): RevocationReason | undefined => {
  const known = REASONS.find((one) => one === reason);
  if (reason !== undefined && known === undefined)
    throw new AcmeProblem('badRevocationReason', `"reason" must be one of ${REASONS.join(', ')}`);
  // A request signed with the certificate's key suggests that the key is no longer known to its
  // owner alone.
  if (signer === undefined) return REVOCATION_REASON.keyCompromise;
  return known === REVOCATION_REASON.unspecified ? undefined : known;
};

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
  const prefix = orderKey(accountId, '');
  const records = orderRecords(mount);
  const nowMs = clock.nowMs();
  let after: string | undefined;
  do {
    const page = await store.scan(records.path(prefix), {
      limit: PAGE_SIZE,
      ...(after !== undefined && { after }),
    });
    for (const { value } of page)
      for (const authorization of records.decode(value).authorizations) {
        const { identifier, wildcard } = authorization;
        if (authorizationStatus(authorization, nowMs) !== 'valid') continue;
        missing.delete(`${identifier.type}:${wildcard ? '*.' : ''}${identifier.value}`);
        // An authorization for a wildcard was proven in the DNS, so it also covers the parent name.
        if (wildcard) missing.delete(`dns:${identifier.value}`);
      }
    after = page.length < PAGE_SIZE ? undefined : page.at(-1)?.path;
  } while (missing.size > 0 && after !== undefined);
  return names.length > 0 && missing.size === 0;
};

const namesOf = ({ extensions }: ParsedCertificate): readonly string[] => {
  const extension = findExtension(extensions, EXTENSION.subjectAltName);
  return (extension === undefined ? [] : parseGeneralNames(extension.value)).map((name) =>
    name.kind === 'dns' || name.kind === 'ip' ? `${name.kind}:${name.value}` : name.kind,
  );
};

const mayRevoke = async (
  parts: RevocationParts,
  { mount, signer, signerKeyDer }: AcmeRevocation,
  certificate: ParsedCertificate,
): Promise<boolean> => {
  if (signer === undefined) return isSamePublicKey(certificate.publicKeyDer, signerKeyDer);
  const serialKey = toSerialKey(certificate.serialNumber);
  const origin = await certificateOriginRecords(mount).find(parts.store, serialKey);
  return (
    origin?.accountId === signer.id ||
    (await holdsAll(parts, mount, signer.id, namesOf(certificate)))
  );
};

/**
 * @throws AcmeProblem `malformed`, `badRevocationReason`, `unauthorized`, `alreadyRevoked`
 */
export const revokeByAcme = async (
  parts: RevocationParts,
  request: AcmeRevocation,
): Promise<void> => {
  const { mount, certificateDer } = request;
  const reason = readReason(request);
  const certificate = readCertificate(certificateDer);
  const serialKey = toSerialKey(certificate.serialNumber);
  const stored = await findCertificate(parts.store, mount, serialKey);
  if (stored === undefined || !Buffer.from(stored).equals(certificateDer))
    throw malformed('the certificate was not issued here', { status: 404 });
  if (!(await mayRevoke(parts, request, certificate)))
    throw new AcmeProblem(
      'unauthorized',
      'neither the account nor the key of the request may revoke this certificate',
    );
  if ((await revocationRecords(mount).find(parts.store, serialKey)) !== undefined)
    throw new AcmeProblem('alreadyRevoked', 'the certificate was revoked before');
  const outcome = await revokeCertificate(parts, {
    mount,
    serialNumber: '',
    certificate: encodePem('CERTIFICATE', certificateDer),
    reason,
  });
  if (outcome.kind === 'expired') throw malformed('the certificate has expired');
};
