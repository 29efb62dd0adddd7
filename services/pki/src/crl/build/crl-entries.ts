/** Entries of the lists of a group of issuers. */

import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import { type CrlEntry, isRevocationReason, isSignedBy, toSerialKey } from '@keelson/x509';
import { UNREADABLE_ISSUER } from '../../certificates/certificate-projections.ts';
import {
  type PendingRevocation,
  type RevocationScope,
} from '../../certificates/revocation-records.ts';
import { revocationsOf, revokingIssuerIds } from '../../certificates/revocation-search.ts';
import type { Authority, IssuerInUse } from '../../issuers/domain/authority.ts';
import type { CrlGroup } from '../domain/crl-group.ts';

/** "0a-1b-2c" as octets: the form of record paths, which is always this one. */
const toSerial = (serialKey: string): Uint8Array => {
  const octets = new Uint8Array((serialKey.length + 1) / 3);
  for (let at = 0; at < octets.byteLength; at++)
    octets[at] = (digit(serialKey, at * 3) << 4) | digit(serialKey, at * 3 + 1);
  return octets;
};

/** Value of a lower-case hexadecimal digit. */
const digit = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  return code < 0x61 ? code - 0x30 : code - 0x57;
};

/** Whether a revocation by this issuer belongs on the CRL of the group. */
export const belongsTo = (group: CrlGroup, authority: Authority, issuerId: string): boolean => {
  if (issuerId === UNREADABLE_ISSUER) return true;
  if (group.members.some(({ issuer }) => issuer.id === issuerId)) return true;
  // Certificates that no issuer of the mount signed are listed by the default issuer.
  const isUnknown =
    !authority.issuers.some(({ issuer }) => issuer.id === issuerId) &&
    !authority.damagedIssuers.has(issuerId);
  return isUnknown && group.members.some((member) => authority.isDefault(member));
};

/** Revoked issuers of the mount that a member of the group signed; no issuer is on its own list. */
const revokedIssuers = (group: CrlGroup, authority: Authority): readonly CrlEntry[] =>
  authority.issuers.flatMap(({ issuer, certificate }) => {
    const isAbove = (member: IssuerInUse): boolean =>
      Buffer.from(member.certificate.subject).equals(certificate.issuer) &&
      isSignedBy(certificate, member.certificate.publicKeyDer);
    const isOwn = group.members.some((member) => member.issuer.id === issuer.id);
    return issuer.revokedAtMs !== undefined && !isOwn && group.members.some(isAbove)
      ? [
          {
            serialNumber: certificate.serialNumber,
            revokedAtMs: issuer.revokedAtMs,
            reason: issuer.revocationReason,
          },
        ]
      : [];
  });

/**
 * Entries of the complete list, page by page.
 * @throws KeelsonError `pki.crl_too_long` when there are more than the settings allow
 */
export async function* completeEntries(
  store: Store,
  mount: MountScope,
  group: CrlGroup,
  authority: Authority,
  scope: RevocationScope,
): AsyncGenerator<readonly CrlEntry[]> {
  const limit = authority.settings.crl.maxCrlEntries;
  const issuers = revokedIssuers(group, authority);
  // Not listed again; and no issuer is on its own list, whatever is recorded.
  const passedOver = new Set(
    [...issuers, ...group.members.map(({ certificate }) => certificate)].map(({ serialNumber }) =>
      toSerialKey(serialNumber),
    ),
  );
  let count = issuers.length;
  yield issuers;
  for await (const issuerId of revokingIssuerIds(store, mount, scope)) {
    if (!belongsTo(group, authority, issuerId)) continue;
    for await (const page of revocationsOf(store, mount, issuerId, scope)) {
      const fresh = page.filter(({ serial }) => !passedOver.has(serial));
      count += fresh.length;
      if (limit >= 0 && count > limit) throw new KeelsonError('pki.crl_too_long', { limit });
      yield fresh.map((row) => {
        // PostgreSQL returns 64-bit columns as text.
        const reason = Number(row.reason);
        return {
          serialNumber: toSerial(row.serial),
          revokedAtMs: Number(row.revoked_at),
          reason: isRevocationReason(reason) ? reason : undefined,
        };
      });
    }
  }
}

/** Entries of the delta list. */
export const deltaEntries = (
  pending: readonly (readonly [string, PendingRevocation])[],
  group: CrlGroup,
  authority: Authority,
): readonly CrlEntry[] =>
  pending
    .filter(([, { issuerId }]) => belongsTo(group, authority, issuerId))
    .map(([serialKey, { revokedAtMs, reason }]) => ({
      serialNumber: toSerial(serialKey),
      revokedAtMs,
      reason,
    }));
