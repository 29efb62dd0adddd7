/**
 * Examines the surroundings of a gateway: destinations of audit devices, and the certificate of HTTPS. None of its
 * faults prevents a start.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  examineAuditDevice,
  examineCertificateFiles,
  periodOf,
  toExpiryFault,
} from '@keelson/gateway-service/examination';
import type { ExaminedStore } from '@keelson/storage';
import { examineAuditDevices } from '@keelson/sys-service/examination';
import { type DataFiles, tlsFolder } from './first-start.ts';

export interface EdgeFinding {
  /** A path or an address. */
  readonly subject: string;
  readonly isFault: boolean;
  readonly text: string;
}

/** @param keyFile key file of the seal, without which the destinations are not known */
export const examineDevices = async (
  sys: ExaminedStore,
  keyFile: string,
): Promise<readonly EdgeFinding[]> => {
  const found = await examineAuditDevices(sys, keyFile);
  const known = (found?.devices ?? []).map(async (device): Promise<EdgeFinding> => {
    const { destination, reason } = await examineAuditDevice(device);
    const name = `the audit device ${device.path}`;
    return reason === undefined
      ? { subject: destination, isFault: false, text: `${name} can write here` }
      : {
          subject: destination,
          isFault: true,
          text: `${name} cannot write here (${reason}), and every request is refused if no device can: make the folder or the file writable for the server, or see docs/runbooks/audit-device-broken.md.`,
        };
  });
  const damaged = (found?.damaged ?? []).map(({ path }) => ({
    subject: path,
    isFault: true,
    text: `the record of the audit device ${path} is damaged, so that it cannot write: disable the device, and enable it again.`,
  }));
  return [...(await Promise.all(known)), ...damaged];
};

export interface CertificateSettings {
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
}

/** @returns undefined if there is no certificate yet */
export const examineCertificate = async (
  folder: DataFiles,
  { certificateFile, keyFile }: CertificateSettings,
  nowMs: number,
): Promise<EdgeFinding | undefined> => {
  if (certificateFile !== undefined && keyFile !== undefined) {
    const fault = await examineCertificateFiles({ certificateFile, keyFile }, nowMs);
    return toFinding(certificateFile, fault);
  }
  const authorityFile = join(tlsFolder(folder), 'ca.pem');
  if (!existsSync(authorityFile)) return undefined;
  const fault = toExpiryFault(periodOf({ cert: readFileSync(authorityFile, 'utf8') }), nowMs);
  return toFinding(authorityFile, fault);
};

const toFinding = (subject: string, fault: string | undefined): EdgeFinding => ({
  subject,
  isFault: fault !== undefined,
  text: fault ?? 'the certificate of HTTPS is valid',
});
