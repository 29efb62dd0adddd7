/** The inputs of access decisions other than the callers' tokens and policies. */
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { Store } from '@keelson/storage';
import type { AuditDevices } from '../audit/audit-records.ts';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import type { EngineType } from '../mounts/engine-type-records.ts';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import type { QuotaIndex } from '../quotas/domain/quota-index.ts';
import type { Seal } from '../seal/seal.ts';

/** In-memory views, read at each call. A view returns the same object until its content changes. */
export interface DecisionViews {
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly mounts: () => Promise<MountIndex>;
  readonly engineTypes: () => Promise<ReadonlyMap<string, EngineType>>;
  readonly auditDevices: () => Promise<AuditDevices>;
  readonly quotas: () => Promise<QuotaIndex>;
  /** Waits until a role change under way has taken effect. */
  readonly isDrSecondary: () => Promise<boolean>;
  readonly isSuperseded: () => Promise<boolean>;
  /** True while the cluster changes its replication role; no decision is made meanwhile. */
  readonly isSwitching: () => boolean;
}

/** Immutable. A decision about a request without a token depends on this and the request only. */
export class DecisionState {
  readonly namespaces: NamespaceTable;
  readonly mounts: MountIndex;
  readonly engineTypes: ReadonlyMap<string, EngineType>;
  readonly audit: AuditDevices;
  readonly quotas: QuotaIndex;
  /** A DR secondary refuses nearly every request. */
  readonly isDrSecondary: boolean;
  /** Another cluster leads the set now: writes are refused here. */
  readonly isSuperseded: boolean;
  readonly #edgeMounts = new Map<MountRecord, Mount>();

  constructor(
    namespaces: NamespaceTable,
    mounts: MountIndex,
    engineTypes: ReadonlyMap<string, EngineType>,
    audit: AuditDevices,
    quotas: QuotaIndex,
    isDrSecondary: boolean,
    isSuperseded: boolean,
  ) {
    this.namespaces = namespaces;
    this.mounts = mounts;
    this.engineTypes = engineTypes;
    this.audit = audit;
    this.quotas = quotas;
    this.isDrSecondary = isDrSecondary;
    this.isSuperseded = isSuperseded;
  }

  /** The mount as engines receive it, built once per record. */
  edgeMount(mount: MountRecord, make: (mount: MountRecord) => Mount): Mount {
    let made = this.#edgeMounts.get(mount);
    if (made === undefined) {
      made = Object.freeze(make(mount));
      this.#edgeMounts.set(mount, made);
    }
    return made;
  }
}

/** The state at the time of the call; undefined while sealed or switching roles. */
export type DecisionStates = () => Promise<DecisionState | undefined>;

export const followDecisionState = (
  store: Store,
  seal: Seal,
  views: DecisionViews,
): DecisionStates => {
  let known: { readonly state: DecisionState; position: number } | undefined;
  return async () => {
    if (seal.isSealed || views.isSwitching()) {
      known = undefined;
      return undefined;
    }
    const position = await store.position();
    // Most requests find that nothing was committed since the previous one.
    if (known?.position === position) return known.state;
    const isDrSecondary = await views.isDrSecondary();
    const isSuperseded = await views.isSuperseded();
    const namespaces = await views.namespaces();
    const mounts = await views.mounts();
    const engineTypes = await views.engineTypes();
    const audit = await views.auditDevices();
    const quotas = await views.quotas();
    const former = known?.state;
    const state =
      former?.namespaces === namespaces &&
      former.mounts === mounts &&
      former.engineTypes === engineTypes &&
      former.audit === audit &&
      former.quotas === quotas &&
      former.isDrSecondary === isDrSecondary &&
      former.isSuperseded === isSuperseded
        ? former
        : new DecisionState(
            namespaces,
            mounts,
            engineTypes,
            audit,
            quotas,
            isDrSecondary,
            isSuperseded,
          );
    if (known === undefined || known.position <= position) known = { state, position };
    return state;
  };
};
