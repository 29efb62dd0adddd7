/** What decisions rest on besides the tokens and policies of callers. */
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { Store } from '@keelson/storage';
import type { AuditDevices } from '../audit/audit-records.ts';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import type { EngineType } from '../mounts/engine-type-records.ts';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import type { Seal } from '../seal/seal.ts';

/** As of each call, in memory: the same object for as long as nothing of it changed. */
export interface DecisionViews {
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly mounts: () => Promise<MountIndex>;
  readonly engineTypes: () => Promise<ReadonlyMap<string, EngineType>>;
  readonly auditDevices: () => Promise<AuditDevices>;
  /** Waits for a change of the role that is being acted on. */
  readonly isDrSecondary: () => Promise<boolean>;
  /** The cluster becomes another one: nothing is decided meanwhile. */
  readonly isSwitching: () => boolean;
}

/**
 * Never changed. A decision about a request without a token reads this and the request, nothing else:
 * while `DecisionStates` gives the same object, the decision is the same. Whatever else such decisions
 * come to depend on has to become part of it.
 */
export class DecisionState {
  readonly namespaces: NamespaceTable;
  readonly mounts: MountIndex;
  readonly engineTypes: ReadonlyMap<string, EngineType>;
  readonly audit: AuditDevices;
  /** Answers nearly nothing. */
  readonly isDrSecondary: boolean;
  readonly #edgeMounts = new Map<MountRecord, Mount>();

  constructor(
    namespaces: NamespaceTable,
    mounts: MountIndex,
    engineTypes: ReadonlyMap<string, EngineType>,
    audit: AuditDevices,
    isDrSecondary: boolean,
  ) {
    this.namespaces = namespaces;
    this.mounts = mounts;
    this.engineTypes = engineTypes;
    this.audit = audit;
    this.isDrSecondary = isDrSecondary;
  }

  /** What engines are told about a mount, made once. */
  edgeMount(mount: MountRecord, make: (mount: MountRecord) => Mount): Mount {
    let made = this.#edgeMounts.get(mount);
    if (made === undefined) {
      made = Object.freeze(make(mount));
      this.#edgeMounts.set(mount, made);
    }
    return made;
  }
}

/** The state as of each call; undefined while sealed or switching. */
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
    // Mostly nothing at all was committed since the last request.
    if (known?.position === position) return known.state;
    const isDrSecondary = await views.isDrSecondary();
    const namespaces = await views.namespaces();
    const mounts = await views.mounts();
    const engineTypes = await views.engineTypes();
    const audit = await views.auditDevices();
    const former = known?.state;
    const state =
      former?.namespaces === namespaces &&
      former.mounts === mounts &&
      former.engineTypes === engineTypes &&
      former.audit === audit &&
      former.isDrSecondary === isDrSecondary
        ? former
        : new DecisionState(namespaces, mounts, engineTypes, audit, isDrSecondary);
    if (known === undefined || known.position <= position) known = { state, position };
    return state;
  };
};
