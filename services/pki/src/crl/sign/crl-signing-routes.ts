import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { field, type Result, secretsRoutes } from '@keelson/secrets-api';
import {
  type CrlEntry,
  type Extension,
  encodePem,
  isObjectIdentifier,
  parseSerialText,
} from '@keelson/x509';
import type { Authorities } from '../../issuers/issuer-records.ts';
import { mergeCrls, signCrl } from './crl-signing-operations.ts';

export interface CrlSigningParts {
  readonly authorities: Authorities;
  readonly clock: Clock;
}

const ORDER_FIELDS = {
  issuer_ref: field.string({ default: '', description: 'Id or name of an issuer, or `default`.' }),
  crl_number: field.integer({ required: true, description: 'Number of the list.' }),
  delta_crl_base_number: field.integer({
    default: -1,
    description: 'Number of the complete list that this one adds to; -1: this one is complete.',
  }),
  next_update: field.durationSeconds({ default: 72 * 3600, description: 'Validity of the list.' }),
  format: field.string({ default: 'pem', description: 'pem or der (base64).' }),
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const toResult = (format: string, der: Uint8Array, warnings: readonly string[] = []): Result => ({
  data: {
    crl: format === 'der' ? Buffer.from(der).toString('base64') : encodePem('X509 CRL', der),
  },
  warnings,
});

const checkFormat = (format: string): void => {
  if (format !== 'pem' && format !== 'der')
    refuse(`unknown format value of "${format}", valid values are "pem", "der"`);
};

const requireObjects = (name: string, value: unknown): readonly Record<string, unknown>[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'object' && one !== null))
    return refuse(`"${name}" must be a list of objects`);
  return value as Record<string, unknown>[];
};

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const readExtension = (raw: Record<string, unknown>): Extension => {
  const { id, critical = false, value } = raw;
  if (typeof id !== 'string' || !isObjectIdentifier(id))
    return refuse('each extension needs an "id" that is an object identifier');
  if (typeof value !== 'string' || value === '' || !BASE64.test(value))
    return refuse(`the "value" of extension ${id} must be base64`);
  if (typeof critical !== 'boolean') return refuse(`"critical" of extension ${id} must be a bool`);
  return { oid: id, critical, value: Buffer.from(value, 'base64') };
};

const readEntry = (raw: Record<string, unknown>): CrlEntry => {
  const { serial_number: serial, revocation_time: time, extensions } = raw;
  if (typeof serial !== 'string') return refuse('each revoked certificate needs a serial_number');
  const revokedAtMs =
    typeof time === 'number'
      ? Math.trunc(time) * 1000
      : Date.parse(typeof time === 'string' ? time : '');
  if (!(revokedAtMs >= 0 && revokedAtMs <= Date.UTC(9999, 11, 31)))
    return refuse(`the revocation_time of serial ${serial} is missing or not a time`);
  return {
    serialNumber: parseSerialText(serial),
    revokedAtMs: Math.floor(revokedAtMs / 1000) * 1000,
    extensions: requireObjects('extensions', extensions).map(readExtension),
  };
};

export const crlSigningRoutes = ({ authorities, clock }: CrlSigningParts): Route[] => [
  ...secretsRoutes({
    path: '/issuer/:issuer_ref/resign-crls',
    tag: 'revocation',
    fields: {
      ...ORDER_FIELDS,
      crls: field.commaList({ required: true, description: 'PEM of lists of this issuer.' }),
    },
    operations: {
      update: {
        summary: 'Combine lists that an issuer signed into one',
        handle: async (context) => {
          const { fields } = context;
          checkFormat(fields.format);
          const authority = await authorities.of(requireMount(context));
          const issuer = authority.requireIssuer(fields.issuer_ref);
          const { entries, warnings } = mergeCrls(fields.crls, issuer);
          const der = await signCrl(clock, {
            issuer,
            number: fields.crl_number,
            deltaBaseNumber: fields.delta_crl_base_number,
            nextUpdateSeconds: fields.next_update,
            entries,
            extensions: [],
          });
          return toResult(fields.format, der, warnings);
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/issuer/:issuer_ref/sign-revocation-list',
    tag: 'revocation',
    fields: ORDER_FIELDS,
    operations: {
      update: {
        summary: 'Sign a list with given entries',
        anyParameters: true,
        handle: async (context) => {
          const { fields, data } = context;
          checkFormat(fields.format);
          const authority = await authorities.of(requireMount(context));
          const der = await signCrl(clock, {
            issuer: authority.requireIssuer(fields.issuer_ref),
            number: fields.crl_number,
            deltaBaseNumber: fields.delta_crl_base_number,
            nextUpdateSeconds: fields.next_update,
            entries: requireObjects('revoked_certs', data['revoked_certs']).map(readEntry),
            extensions: requireObjects('extensions', data['extensions']).map(readExtension),
          });
          return toResult(fields.format, der);
        },
      },
    },
  }),
];
