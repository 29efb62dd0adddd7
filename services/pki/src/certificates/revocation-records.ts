/** Revocations stored by a cluster. Keys are serial numbers in hyphenated hexadecimal. */

import { localRecords, type MountScope, OF_MOUNT, sharedRecords } from '@keelson/engine';
import { collection, type RecordCollection } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { revokerShape } from './domain/revoker.ts';

export const revocationShape = Type.Object({
  revokedAtMs: Type.Number(),
  /** "" when no issuer of the mount made the certificate. */
  issuerId: Type.String(),
  /** End of validity of the certificate, which may be deleted before its revocation. */
  notAfterMs: Type.Number(),
  /** RFC 5280 §5.3.1; undefined where none was given. */
  reason: Type.Optional(Type.Enum([0, 1, 2, 3, 4, 5, 6, 8, 9, 10])),
  revokedBy: revokerShape,
  /** Whoever reported a compromise of the key after the revocation; undefined if nobody did. */
  compromiseReportedBy: Type.Optional(revokerShape),
});
export type Revocation = Shaped<typeof revocationShape>;

/** Keys: "<mount uuid>/<serial number>". */
export const revocations = collection('revoked', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  owner: OF_MOUNT,
  shape: revocationShape,
});

export const revocationRecords = ({ uuid }: MountScope): RecordCollection<Revocation> =>
  revocations.below(uuid);

/** Revocations of all clusters: `<mount uuid>/<serial>/<id of the cluster>`. */
export const clusterRevocations = collection('cluster-revocations', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  owner: OF_MOUNT,
  shape: revocationShape,
});

/** The clusters whose revocations are meant: this one, or all. */
export type RevocationScope = 'own' | 'all';

/** Certificates revoked since the last complete list, by serial number; stored where delta lists are made. */
export const pendingRevocationShape = Type.Object({
  revokedAtMs: Type.Number(),
  issuerId: Type.String(),
  reason: Type.Optional(Type.Enum([0, 1, 2, 3, 4, 5, 6, 8, 9, 10])),
});
export type PendingRevocation = Shaped<typeof pendingRevocationShape>;

const ownPending = localRecords('crl-pending', { version: 1, shape: pendingRevocationShape });
const unifiedPending = sharedRecords('unified-crl-pending', {
  version: 1,
  shape: pendingRevocationShape,
});

export const pendingRecords = (
  mount: MountScope,
  scope: RevocationScope = 'own',
): RecordCollection<PendingRevocation> => (scope === 'own' ? ownPending : unifiedPending)(mount);
