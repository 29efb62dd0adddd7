/** Quotas of one kind, indexed for the look-up by the place of a request. */
import type { QuotaPlace } from './rate-quota.ts';

/** The place of a request. */
export interface QuotaQuestion {
  /** Ids of the namespace of the request and of its ancestors, nearest first. */
  readonly lineage: readonly string[];
  readonly mountUuid: string | undefined;
  /** Path below the mount. */
  readonly below: string;
  /** Name of the role of a login; absent for other requests, and for a login with none. */
  readonly role?: string | undefined;
}

export type PlacedRule = QuotaPlace & { readonly isInheritable: boolean };

const covers = (pattern: string, below: string): boolean =>
  pattern.endsWith('*') ? below.startsWith(pattern.slice(0, -1)) : pattern === below;

/** The more of a path a quota names, the earlier it is. */
const byPrecision = (one: QuotaPlace, other: QuotaPlace): number =>
  other.below.length - one.below.length;

export class PlacedQuotas<Q extends PlacedRule> {
  readonly #ofMounts = new Map<string, Q[]>();
  readonly #ofNamespaces = new Map<string, Q>();
  /** By the mount, then by the role. */
  readonly #ofRoles = new Map<string, Map<string, Q>>();

  constructor(quotas: readonly Q[]) {
    for (const quota of quotas.toSorted(byPrecision)) {
      if (quota.mountUuid !== undefined && quota.role !== undefined) {
        const ofMount = this.#ofRoles.get(quota.mountUuid) ?? new Map<string, Q>();
        this.#ofRoles.set(quota.mountUuid, ofMount.set(quota.role, quota));
        continue;
      }
      if (quota.mountUuid === undefined) {
        this.#ofNamespaces.set(quota.namespaceId, quota);
        continue;
      }
      const known = this.#ofMounts.get(quota.mountUuid);
      if (known === undefined) this.#ofMounts.set(quota.mountUuid, [quota]);
      else known.push(quota);
    }
  }

  get isEmpty(): boolean {
    return this.#ofMounts.size === 0 && this.#ofNamespaces.size === 0 && this.#ofRoles.size === 0;
  }

  /** Whether the role of a login at a mount matters. */
  hasRolesAt(mountUuid: string): boolean {
    return this.#ofRoles.has(mountUuid);
  }

  /**
   * The only quota that applies: that of the role, or else the one that names most of the path, or else that of the
   * namespace, or else that of the nearest ancestor whose quota is inherited.
   */
  find({ lineage, mountUuid, below, role }: QuotaQuestion): Q | undefined {
    const ofRole =
      mountUuid !== undefined &&
      role !== undefined &&
      this.#ofRoles.get(mountUuid)?.get(role.toLowerCase());
    if (ofRole) return ofRole;
    const ofMount =
      mountUuid !== undefined &&
      this.#ofMounts
        .get(mountUuid)
        ?.find((quota) => quota.below === '' || covers(quota.below, below));
    if (ofMount) return ofMount;
    return lineage
      .map((id) => this.#ofNamespaces.get(id))
      .find(
        (quota, generation) => quota !== undefined && (generation === 0 || quota.isInheritable),
      );
  }
}
