/** All rate limit quotas, indexed for the look-up of every request. */
import { PathSet } from '../../policies/domain/path-set.ts';
import { PlacedQuotas, type QuotaQuestion } from './placed-quotas.ts';
import type { QuotaSettings, RateQuota } from './rate-quota.ts';

export class QuotaIndex {
  readonly settings: QuotaSettings;
  readonly #exempt: PathSet;
  readonly #quotas: PlacedQuotas<RateQuota>;

  constructor(quotas: readonly RateQuota[], settings: QuotaSettings) {
    this.settings = settings;
    this.#exempt = new PathSet(settings.exemptPaths);
    this.#quotas = new PlacedQuotas(quotas);
  }

  get isEmpty(): boolean {
    return this.#quotas.isEmpty;
  }

  /** Whether the role of a login at a mount matters. @param path below the namespace */
  needsRole(mountUuid: string, path: string): boolean {
    return this.#quotas.hasRolesAt(mountUuid) && !this.#exempt.has(path);
  }

  /** @param question with the path below the namespace, which may be one that no quota limits */
  find({ path, ...place }: QuotaQuestion & { readonly path: string }): RateQuota | undefined {
    return this.#exempt.has(path) ? undefined : this.#quotas.find(place);
  }
}
