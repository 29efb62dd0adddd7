/** Revokes certificates of this cluster that others asked to be revoked, and confirms it. */
import { type MountScope } from '@keelson/engine';
import { hasCode } from '@keelson/errors';
import { findCertificate } from '../certificates/certificate-records.ts';
import { confirmationRecords, requestRecords } from '../clusters/cluster-records.ts';
import { confirmRevocation } from '../clusters/request-operations.ts';
import { type RevocationParts, revokeCertificate } from './revocation-operations.ts';

const PAGE_SIZE = 500;

const fulfil = async (
  parts: RevocationParts,
  mount: MountScope,
  serialKey: string,
): Promise<void> => {
  const { store } = parts;
  const asked = await requestRecords(mount).find(store, serialKey);
  const confirmed = await confirmationRecords(mount).find(store, serialKey);
  // A compromise that was found later replaces the request.
  if (asked === undefined || (confirmed !== undefined && confirmed.reason === asked.reason)) return;
  if ((await findCertificate(store, mount, serialKey)) === undefined) return;
  const { reason } = asked;
  const by = { ...asked.requestedBy, clusterId: asked.requestingCluster };
  try {
    const request = { mount, serialNumber: serialKey, certificate: '', reason, by };
    if ((await revokeCertificate(parts, request)).kind !== 'revoked') return;
  } catch (error) {
    // A certificate that may not be revoked (an issuer's) stays unconfirmed and does not block the others.
    if (!hasCode(error, 'request.invalid')) throw error;
    return;
  }
  await confirmRevocation(parts, mount, serialKey, reason);
};

export const fulfilRequests = async (parts: RevocationParts, mount: MountScope): Promise<void> => {
  const { crossClusterRevocation } = (await parts.authorities.of(mount)).settings.crl;
  if (!crossClusterRevocation) return;
  let after: string | undefined;
  do {
    const page = await requestRecords(mount).keys(parts.store, [], {
      limit: PAGE_SIZE,
      ...(after !== undefined && { after }),
    });
    for (const serialKey of page) await fulfil(parts, mount, serialKey);
    after = page.at(-1);
  } while (after !== undefined);
};
