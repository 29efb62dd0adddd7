/** Dependencies of login MFA. */
import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { LoginEnforcements } from './mfa-records.ts';

/** A passcode with which an entity answers at a login. */
export interface GivenPasscode {
  readonly entity: EntityRef;
  readonly methodId: string;
  readonly passcode: string;
}

export interface MfaContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly enforcements: () => Promise<LoginEnforcements>;
  /** False on a performance secondary, where the primary verifies passcodes and counts them for all clusters. */
  readonly countsPasscodes: () => boolean;
  /** @param mount of the login; @throws KeelsonError `replication.not_ready` while the primary cannot be reached */
  readonly verifyAtPrimary: (mount: MountRecord, given: GivenPasscode) => Promise<FactorVerdict>;
  /** Id of this cluster, which signatures of passkeys are bound to: each cluster counts them for itself. */
  readonly clusterId: () => Promise<string>;
  /** Address of the installation, to which passkeys are bound. */
  readonly publicUrl: string | undefined;
  /** Counts the second factors of logins. */
  readonly countFactor: (result: 'passed' | 'refused') => void;
}

/** Whether a second factor is right, and why not. */
export type FactorVerdict =
  | { readonly isRight: true }
  | { readonly isRight: false; readonly text: string };
