import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import {
  type FieldValues,
  field,
  type OperationContext,
  type Result,
  secretsRoutes,
} from '@keelson/secrets-api';
import {
  parseSerialText,
  REVOCATION_REASON,
  type RevocationReason,
  reasonName,
  toSerialHex,
  toSerialKey,
} from '@keelson/x509';
import type { Revoker } from '../certificates/domain/revoker.ts';
import { REVOCATION, revocationDocument } from '../certificates/revocation-document.ts';
import { revocationRecords } from '../certificates/revocation-records.ts';
import { answerSerials } from '../certificates/serial-pages.ts';
import { findClusterRevocation } from '../clusters/cluster-records.ts';
import { issuerDocument } from '../issuers/issuer-document.ts';
import { MAX_TEXT_LENGTH } from '../mounts/text-fields.ts';
import { formatTime } from '../validity/domain/lifetime.ts';
import { OPERATOR_REASONS } from './domain/revocation-table.ts';
import { revokeIssuer } from './issuer-revocation-operations.ts';
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

const REASON_NAMES = OPERATOR_REASONS.map((reason) => reasonName(reason));

const REASON_FIELD = {
  reason: field.string({
    default: 'unspecified',
    description: `Reason in lists and OCSP answers: ${REASON_NAMES.join(', ')}.`,
  }),
};

/**
 * The reason of a name; undefined for `unspecified`.
 * @throws KeelsonError `request.invalid`
 */
const readReason = (name: string): RevocationReason | undefined => {
  const reason = OPERATOR_REASONS.find((one) => reasonName(one) === name);
  if (reason !== undefined) return reason === REVOCATION_REASON.unspecified ? undefined : reason;
  throw new KeelsonError('request.invalid', {
    text: `invalid reason "${name}": it must be one of ${REASON_NAMES.join(', ')}`,
  });
};

/** The token of a request; requests without one come from other programs of the cluster. */
const revokerOf = ({ caller, head }: OperationContext<unknown>): Revoker => ({
  kind: 'token',
  displayName: caller?.displayName ?? '',
  metadata: caller?.metadata ?? {},
  requestId: head.requestId,
});

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
  const by = revokerOf(context);
  return { mount: requireMount(context), serialNumber, certificate, by };
};

const issuerRevocationRoutes = (parts: RevocationParts): Route[] =>
  secretsRoutes({
    path: '/issuer/:issuer_ref/revoke',
    tag: 'issuers',
    fields: {
      issuer_ref: field.string({
        default: '',
        description: 'Id or name of an issuer, or `default`.',
        maxLength: MAX_TEXT_LENGTH,
      }),
      ...REASON_FIELD,
    },
    operations: {
      update: {
        summary: 'Revoke an issuer',
        handle: async (context) => {
          const mount = requireMount(context);
          const { issuer_ref: issuerRef } = context.fields;
          const reason = readReason(context.fields.reason);
          const by = revokerOf(context);
          const warnings = await revokeIssuer(parts, { mount, issuerRef, reason, by });
          const authority = await parts.authorities.of(mount);
          const found = authority.requireIssuer(issuerRef);
          return { data: issuerDocument(authority, found), warnings };
        },
      },
    },
  });

export const revocationRoutes = (parts: RevocationParts): Route[] => [
  ...issuerRevocationRoutes(parts),
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
    path: '/certs/revoked/:serial',
    tag: 'revocation',
    fields: {
      serial: field.string({ default: '', description: 'Serial number in hexadecimal.' }),
    },
    operations: {
      read: {
        summary: 'Read who revoked a certificate, when, and with which reason',
        description: 'With unified lists, a certificate of another cluster, too.',
        answer: REVOCATION,
        handle: async (context) => {
          const mount = requireMount(context);
          const serial = parseSerialText(context.fields.serial);
          const revocation =
            (await revocationRecords(mount).find(parts.store, toSerialKey(serial))) ??
            (await findClusterRevocation(parts.store, mount, toSerialKey(serial)));
          return revocation && { data: revocationDocument(toSerialHex(serial), revocation) };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/certs/revoked',
    tag: 'revocation',
    fields: {},
    operations: {
      list: {
        summary: 'List revoked certificates by serial number',
        pagesItself: true,
        handle: (context) => {
          const records = revocationRecords(requireMount(context));
          return answerSerials((options) => records.keys(parts.store, [], options), context.fields);
        },
      },
    },
  }),
];
