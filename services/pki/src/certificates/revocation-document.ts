/** `data` of a revocation. */
import type { JsonObject } from '@keelson/secrets-api';
import { reasonName } from '@keelson/x509';
import { formatTime } from '../validity/domain/lifetime.ts';
import type { Revoker } from './domain/revoker.ts';
import type { Revocation } from './revocation-records.ts';

const memberOf = (revoker: Revoker): JsonObject => {
  switch (revoker.kind) {
    case 'token': {
      const { displayName, metadata, requestId } = revoker;
      return { type: 'token', display_name: displayName, metadata, request_id: requestId };
    }
    case 'acme-account':
      return { type: 'acme_account', account_id: revoker.accountId };
    case 'certificate-key':
      return { type: 'certificate_key' };
    case 'lease':
      return { type: 'lease' };
  }
};

const revokerDocument = (revoker: Revoker): JsonObject => ({
  ...memberOf(revoker),
  ...(revoker.clusterId !== undefined && { cluster_id: revoker.clusterId }),
});

/** Whoever revoked, and whoever reported a compromise later. Only for paths that a policy protects. */
export const revokersDocument = ({
  revokedBy,
  compromiseReportedBy,
}: {
  readonly revokedBy?: Revoker | undefined;
  readonly compromiseReportedBy?: Revoker | undefined;
}): JsonObject => ({
  ...(revokedBy && { revoked_by: revokerDocument(revokedBy) }),
  ...(compromiseReportedBy && { compromise_reported_by: revokerDocument(compromiseReportedBy) }),
});

const REVOKER = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['token', 'acme_account', 'certificate_key', 'lease'] },
    display_name: { type: 'string', description: 'Of the token.' },
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
    request_id: { type: 'string', description: 'As in the audit log.' },
    account_id: { type: 'string', description: 'As in acme/mgmt/account/keyid.' },
    cluster_id: { type: 'string', description: 'The cluster that asked for the revocation.' },
  },
} as const;

/** The description of `revocationDocument`. */
export const REVOCATION = {
  data: {
    serial_number: { type: 'string' },
    revocation_time: { type: 'number', description: 'Unix time.' },
    revocation_time_rfc3339: { type: 'string' },
    revocation_reason: { type: 'string' },
    issuer_id: { type: 'string' },
    revoked_by: REVOKER,
    compromise_reported_by: REVOKER,
  },
} as const;

/** @param serialHex in colon form */
export const revocationDocument = (serialHex: string, revocation: Revocation): JsonObject => ({
  serial_number: serialHex,
  revocation_time: revocation.revokedAtMs / 1000,
  revocation_time_rfc3339: formatTime(revocation.revokedAtMs),
  revocation_reason: reasonName(revocation.reason),
  ...(revocation.issuerId !== '' && { issuer_id: revocation.issuerId }),
  ...revokersDocument(revocation),
});
