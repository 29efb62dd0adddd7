import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  type FieldValues,
  field,
  type OperationContext,
  type Result,
  secretsRoutes,
} from '@keelson/secrets-api';
import { REVOCATION_REASON, type RevocationReason } from '@keelson/x509';
import { revocationRecords } from '../certificates/revocation-records.ts';
import { answerSerials } from '../certificates/serial-pages.ts';
import { PAGE_FIELDS } from '../mounts/list-page.ts';
import { requireMount } from '../mounts/request-mount.ts';
import { formatTime } from '../validity/domain/lifetime.ts';
import {
  type RevocationParts,
  type RevokeOutcome,
  type RevokeRequest,
  revokeCertificate,
} from './revocation-operations.ts';

const FIELDS = {
  serial_number: field.string({
    default: '',
    description: 'Serial number in hexadecimal with colons or hyphens.',
  }),
  certificate: field.string({ default: '', description: 'PEM of the certificate.' }),
};

/**
 * Reasons that an administrator may give. Holds are not final, and the reason of a removal belongs to
 * lists alone (RFC 5280 §5.3.1).
 */
const REASONS: Readonly<Record<string, RevocationReason | undefined>> = {
  unspecified: undefined,
  keyCompromise: REVOCATION_REASON.keyCompromise,
  cACompromise: REVOCATION_REASON.cACompromise,
  affiliationChanged: REVOCATION_REASON.affiliationChanged,
  superseded: REVOCATION_REASON.superseded,
  cessationOfOperation: REVOCATION_REASON.cessationOfOperation,
  privilegeWithdrawn: REVOCATION_REASON.privilegeWithdrawn,
};

const REASON_FIELD = {
  reason: field.string({
    default: 'unspecified',
    description: `Reason in lists and OCSP answers: ${Object.keys(REASONS).join(', ')}.`,
  }),
};

/** @throws KeelsonError `request.invalid` */
const readReason = (name: string): RevocationReason | undefined => {
  if (Object.hasOwn(REASONS, name)) return REASONS[name];
  throw new KeelsonError('request.invalid', {
    text: `invalid reason "${name}": it must be one of ${Object.keys(REASONS).join(', ')}`,
  });
};

const KEY_FIELD = {
  private_key: field.string({ default: '', description: "PEM of the certificate's key." }),
};

const toResult = (outcome: RevokeOutcome): Result => {
  switch (outcome.kind) {
    case 'revoked':
      return {
        data: {
          revocation_time: outcome.revokedAtMs / 1000,
          revocation_time_rfc3339: formatTime(outcome.revokedAtMs),
          state: 'revoked',
        },
        warnings: outcome.warnings,
      };
    case 'pending':
      return {
        data: { state: 'pending' },
        warnings: [
          `certificate with serial ${outcome.serialHex} was not issued by this cluster; the other clusters are asked to revoke it, see certs/revocation-queue`,
        ],
      };
    case 'expired':
      return {
        warnings: [
          `certificate with serial ${outcome.serialHex} already expired (expiration time: ${formatTime(outcome.notAfterMs)}); refusing to add to CRL`,
        ],
      };
  }
};

/** @throws KeelsonError `request.invalid` */
const toRequest = (context: OperationContext<FieldValues<typeof FIELDS>>): RevokeRequest => {
  const { serial_number: serialNumber, certificate } = context.fields;
  if (serialNumber === '' && certificate === '' && context.given.has('serial_number'))
    throw new KeelsonError('request.invalid', { text: 'The serial number must be provided' });
  return { mount: requireMount(context), serialNumber, certificate };
};

export const revocationRoutes = (parts: RevocationParts): Route[] => [
  ...secretsRoutes({
    path: '/revoke',
    tag: 'revocation',
    fields: { ...FIELDS, ...REASON_FIELD },
    operations: {
      update: {
        summary: 'Revoke a certificate',
        handle: async (context) => {
          const reason = readReason(context.fields.reason);
          return toResult(await revokeCertificate(parts, { ...toRequest(context), reason }));
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/revoke-with-key',
    tag: 'revocation',
    fields: { ...FIELDS, ...KEY_FIELD },
    operations: {
      update: {
        summary: 'Revoke a certificate by proof of possession of its key',
        handle: async (context) =>
          toResult(
            await revokeCertificate(parts, {
              ...toRequest(context),
              privateKey: context.fields.private_key,
            }),
          ),
      },
    },
  }),
  ...secretsRoutes({
    path: '/certs/revoked',
    tag: 'revocation',
    fields: PAGE_FIELDS,
    operations: {
      list: {
        summary: 'List revoked certificates by serial number',
        handle: (context) => {
          const records = revocationRecords(requireMount(context));
          return answerSerials((options) => records.keys(parts.store, options), context.fields);
        },
      },
    },
  }),
];
