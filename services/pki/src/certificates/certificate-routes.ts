/** Fetching stored certificates, without a token (reference §5.6). */

import type { Route } from '@keelson/edge';
import { type MountScope, requireMount } from '@keelson/engine';
import { type DescribedAnswer, field, type Result, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { encodePem, parseSerialText, toSerialKey } from '@keelson/x509';
import { formatTime } from '../validity/domain/lifetime.ts';
import { findCertificate } from './certificate-records.ts';
import { CERTIFICATE_TYPE, CHAIN_TYPE, rawAnswer, STORED_CERTIFICATE } from './raw-answer.ts';
import { revocationRecords } from './revocation-records.ts';

const SERIAL_FIELD = {
  serial: field.string({ default: '', description: 'Serial number in hexadecimal.' }),
};

interface StoredCertificate {
  readonly der: Uint8Array;
  readonly serialKey: string;
}

const findBySerial = async (
  store: Store,
  mount: MountScope,
  serialText: string,
): Promise<StoredCertificate | undefined> => {
  const serialKey = toSerialKey(parseSerialText(serialText));
  const der = await findCertificate(store, mount, serialKey);
  return der && { der, serialKey };
};

const certificateAnswer = async (
  store: Store,
  mount: MountScope,
  { der, serialKey }: StoredCertificate,
): Promise<Result> => {
  const revocation = await revocationRecords(mount).find(store, serialKey);
  return {
    data: {
      certificate: encodePem('CERTIFICATE', der),
      revocation_time: (revocation?.revokedAtMs ?? 0) / 1000,
      revocation_time_rfc3339: revocation ? formatTime(revocation.revokedAtMs) : '',
      ...(revocation && revocation.issuerId !== '' && { issuer_id: revocation.issuerId }),
    },
  };
};

export const certificateRoutes = (store: Store): Route[] => {
  const read = (
    path: string,
    summary: string,
    described: DescribedAnswer,
    answer: (mount: MountScope, found: StoredCertificate | undefined) => Promise<Result> | Result,
  ): Route[] =>
    secretsRoutes({
      path,
      tag: 'certificates',
      fields: SERIAL_FIELD,
      operations: {
        read: {
          summary,
          answer: described,
          handle: async (context) => {
            const mount = requireMount(context);
            return answer(mount, await findBySerial(store, mount, context.params['serial'] ?? ''));
          },
        },
      },
    });
  return [
    ...read(
      '/cert/:serial',
      'Read a certificate',
      STORED_CERTIFICATE,
      (mount, found) => found && certificateAnswer(store, mount, found),
    ),
    ...read(
      '/cert/:serial/raw',
      'Read a certificate, DER',
      { mediaType: CERTIFICATE_TYPE },
      (_, found) => rawAnswer(CERTIFICATE_TYPE, found?.der),
    ),
    ...read(
      '/cert/:serial/raw/pem',
      'Read a certificate, PEM',
      { mediaType: CHAIN_TYPE },
      (_, found) => rawAnswer(CHAIN_TYPE, found && encodePem('CERTIFICATE', found.der)),
    ),
  ];
};
