/** Renewal information (RFC 9773 §4). */

import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';
import { parseCertificate } from '@keelson/x509';
import { findCertificate } from '../../certificates/certificate-records.ts';
import { revocationRecords } from '../../certificates/revocation-records.ts';
import type { MountScope } from '../../mounts/mount-records.ts';
import { malformed } from '../problems/problem.ts';
import { isNamedBy, parseCertificateId } from './domain/certificate-id.ts';
import { type RenewalWindow, renewalWindow } from './domain/renewal-window.ts';

/** @throws AcmeProblem `malformed`, with 404 for an unknown certificate */
export const findRenewalWindow = async (
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  mount: MountScope,
  certificateId: string,
): Promise<RenewalWindow> => {
  const id = parseCertificateId(certificateId);
  const der = await findCertificate(store, mount, id.serialKey);
  const certificate = der && parseCertificate(der);
  if (certificate === undefined || !isNamedBy(certificate, id))
    throw malformed('there is no such certificate', { status: 404 });
  const revocation = await revocationRecords(mount).find(store, id.serialKey);
  return renewalWindow(certificate, revocation?.revokedAtMs, clock.nowMs());
};
