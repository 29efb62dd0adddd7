/** Revokes certificates of this cluster that others asked to be revoked, and confirms it. */
import { hasCode } from '@keelson/errors';
import { findCertificate } from '../certificates/certificate-records.ts';
import { confirmationRecords, requestRecords } from '../clusters/cluster-records.ts';
import { confirmRevocation } from '../clusters/request-operations.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import { type RevocationParts, revokeCertificate } from './revocation-operations.ts';

const PAGE_SIZE = 500;

const fulfil = async (
  parts: RevocationParts,
  mount: MountScope,
  serialKey: string,
): Promise<void> => {
  const { store } = parts;
  if ((await confirmationRecords(mount).find(store, serialKey)) !== undefined) return;
  if ((await findCertificate(store, mount, serialKey)) === undefined) return;
  try {
    const request = { mount, serialNumber: serialKey, certificate: '' };
    if ((await revokeCertificate(parts, request)).kind !== 'revoked') return;
  } catch (error) {
    // A certificate that may not be revoked (an issuer's) stays unconfirmed and does not block the others.
    if (!hasCode(error, 'request.invalid')) throw error;
    return;
  }
  await confirmRevocation(parts, mount, serialKey);
};

export const fulfilRequests = async (parts: RevocationParts, mount: MountScope): Promise<void> => {
  const { crossClusterRevocation } = (await parts.authorities.of(mount)).settings.crl;
  if (!crossClusterRevocation) return;
  let after: string | undefined;
  do {
    const page = await requestRecords(mount).keys(parts.store, {
      limit: PAGE_SIZE,
      ...(after !== undefined && { after }),
    });
    for (const serialKey of page) await fulfil(parts, mount, serialKey);
    after = page.at(-1);
  } while (after !== undefined);
};
