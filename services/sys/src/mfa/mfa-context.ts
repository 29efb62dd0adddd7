/** Dependencies of login MFA. */
import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import type { LoginEnforcements } from './mfa-records.ts';

export interface MfaContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly enforcements: () => Promise<LoginEnforcements>;
  /** Id of this cluster: the clusters of a set have the same keys, and count what was used for themselves. */
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
