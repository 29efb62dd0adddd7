/**
 * What a cluster keeps of its ACME clients. All of it is the cluster's own (`local/`): accounts are not
 * portable between clusters. Orders lie below their accounts, and their ids begin with their time, so a
 * listing is in the order they were made in.
 */
import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { bulkPrefix, type MountScope, sharedPrefix } from '../mounts/mount-records.ts';
import type { Account, BoundIdentity } from './domain/account.ts';
import type { AcmeConfig } from './domain/acme-config.ts';
import type { ChallengeType } from './domain/challenge-types.ts';
import type { Order } from './domain/order.ts';

const prefix = (mount: MountScope, kind: string): string => `${bulkPrefix('acme', mount)}${kind}/`;

/** By id. */
export const accountRecords = (mount: MountScope): RecordCollection<Account> =>
  jsonRecords(prefix(mount, 'accounts'));

/** Which account of a directory has a key; keys as `accountKeyIndex` makes them. */
export const accountKeyRecords = (
  mount: MountScope,
): RecordCollection<{ readonly accountId: string }> => jsonRecords(prefix(mount, 'account-keys'));

export const accountKeyIndex = (directory: string, thumbprint: string): string =>
  `${Buffer.from(directory).toString('base64url')}/${thumbprint}`;

/** A binding that no account has used (reference §7.6). */
export interface ExternalAccountKey {
  /** Of the MAC, base64url. Secret. */
  readonly macKey: string;
  readonly keyType: string;
  readonly directory: string;
  readonly createdAtMs: number;
  readonly identity?: BoundIdentity | undefined;
}

/** By id. */
export const externalAccountRecords = (mount: MountScope): RecordCollection<ExternalAccountKey> =>
  jsonRecords(prefix(mount, 'eab'));

/** Keys: "<account id>/<order id>". */
export const orderRecords = (mount: MountScope): RecordCollection<Order> =>
  jsonRecords(prefix(mount, 'orders'));

export const orderKey = (accountId: string, orderId: string): string => `${accountId}/${orderId}`;

/** Which order a certificate came from; keys are serial numbers as in record paths. */
export interface CertificateOrigin {
  readonly accountId: string;
  readonly orderId: string;
  /** RFC 9773 §5: the order whose certificate took its place. */
  readonly replacedByOrderId?: string | undefined;
}

export const certificateOriginRecords = (mount: MountScope): RecordCollection<CertificateOrigin> =>
  jsonRecords(prefix(mount, 'certificates'));

/** A challenge that waits for an attempt. Claimed by the replica that makes it, for a time. */
export interface QueuedChallenge {
  readonly accountId: string;
  readonly orderId: string;
  /** Of the authorization in its order. */
  readonly authorizationIndex: number;
  readonly type: ChallengeType;
  /** Made so far. */
  readonly attempts: number;
  readonly dueAtMs: number;
  readonly claimedUntilMs: number;
  /** When the first attempt began; undefined: none was made. */
  readonly triedSinceMs?: number;
}

/** Keys: `queueKey`. */
export const challengeQueueRecords = (mount: MountScope): RecordCollection<QueuedChallenge> =>
  jsonRecords(prefix(mount, 'challenge-queue'));

export const queueKey = (orderId: string, authorizationIndex: number): string =>
  `${orderId}-${authorizationIndex}`;

/** Its only key is `ACME_SETTING`; the same in all clusters. */
export const acmeConfigRecords = (mount: MountScope): RecordCollection<AcmeConfig> =>
  jsonRecords(`${sharedPrefix(mount)}config/`);
export const ACME_SETTING = 'acme';
