/** Dependencies of access decisions. */
import type { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import type { Mount, Namespace } from '@keelson/proto/edge/v1/edge';
import type { RequestCounts } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import type { Store } from '@keelson/storage';
import type { AuditDevices } from '../audit/audit-records.ts';
import type { LeaseTtls } from '../mounts/domain/lease-ttl.ts';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { PolicyIndex } from '../policies/policy-index.ts';
import type { Seal } from '../seal/seal.ts';
import type { TokenEntry } from '../tokens/domain/token-entry.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import type { DecisionStates } from './decision-state.ts';
import type { CeremonyRule } from './domain/special-paths.ts';

export interface AccessContext {
  readonly store: Store;
  readonly seal: Seal;
  readonly tokens: TokenContext;
  readonly policies: () => Promise<PolicyIndex>;
  readonly decisionState: DecisionStates;
  /** Called for each request that a token has allowed. */
  readonly recordUse: (token: TokenEntry) => void;
  /** Adds what a gateway has counted to the history of the cluster. */
  readonly addRequests: (counts: RequestCounts) => void;
  readonly auditDevices: () => Promise<AuditDevices>;
  readonly systemTtls: LeaseTtls;
  readonly ceremonies: CeremonyRule;
  readonly toEdgeMount: (mount: MountRecord, namespace: Namespace, system: LeaseTtls) => Mount;
  /** Tells which role a login names; absent without auth methods other than tokens. */
  readonly authMethods: RpcService<typeof AuthMethodsDefinition> | undefined;
  /** Waits until the log has reached the position that an index header names. */
  readonly awaitIndex: (header: string) => Promise<void>;
}
