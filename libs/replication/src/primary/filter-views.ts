/**
 * The records of a service that each filtered secondary may receive. Verdicts come from the membership
 * and are cached for their generation. The generation is loaded for each view, so a filter applies to
 * every read after it was set.
 */
import { KeelsonError } from '@keelson/errors';
import type { ReducedTree, Store } from '@keelson/storage';
import type { ReplicationKind } from '../domain/crossing.ts';
import type { RecordGroups } from '../domain/record-groups.ts';
import type { FilterVerdict, Membership } from '../membership/membership.ts';

export interface FilterView {
  readonly generation: string;
  /** Whether a path crosses; valid for the paths the view was requested for. */
  passes(path: string): boolean;
}

interface Known {
  readonly generation: string;
  readonly isWithheld: Map<string, boolean>;
  reduced?: ReducedTree;
}

export interface FilterViewsOptions {
  readonly store: Store;
  readonly membership: Membership;
  readonly kind: ReplicationKind;
  readonly groups: RecordGroups;
}

export class FilterViews {
  readonly #options: FilterViewsOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: FilterViewsOptions) {
    this.#options = options;
  }

  /** Loads the view for these paths; undefined if the secondary receives everything. */
  async of(secondaryId: string, paths: readonly string[]): Promise<FilterView | undefined> {
    const known = await this.#update(secondaryId, paths);
    return known && { generation: known.generation, passes: (path) => this.#passes(known, path) };
  }

  /** Ids of the admitted secondaries that have a filter. */
  async filtered(): Promise<readonly string[]> {
    const { kind, membership } = this.#options;
    const admitted: string[] = [];
    for (const id of kind === 'dr' ? [] : await membership.filteredSecondaries())
      if ((await membership.findSecondary(id)) !== undefined) admitted.push(id);
    return admitted;
  }

  /** All groups withheld from the secondary; undefined without a filter. */
  async verdictOn(secondaryId: string): Promise<FilterVerdict | undefined> {
    return this.#options.kind === 'dr'
      ? undefined
      : this.#options.membership.findFilter(secondaryId);
  }

  /** The replicated tree of the records that cross; undefined if the secondary receives everything. */
  async reducedTree(secondaryId: string): Promise<ReducedTree | undefined> {
    const { store, groups } = this.#options;
    const known = await this.#update(secondaryId, []);
    if (known === undefined || known.reduced !== undefined) return known?.reduced;
    known.reduced = store.merkle.leavingOut({
      prefixes: async () => {
        const all = await this.verdictOn(secondaryId);
        if (all?.generation !== known.generation) throw new KeelsonError('replication.not_ready');
        return [...new Set(all.withheldGroups.flatMap((group) => groups.prefixesOf(group)))];
      },
      prepare: async (paths) => {
        if ((await this.#update(secondaryId, paths)) !== known)
          throw new KeelsonError('replication.not_ready');
      },
      has: (path) => !this.#passes(known, path),
    });
    return known.reduced;
  }

  async #update(secondaryId: string, paths: readonly string[]): Promise<Known | undefined> {
    const { membership, kind, groups } = this.#options;
    if (kind === 'dr') return undefined;
    let wanted: ReadonlySet<string> | undefined;
    for (;;) {
      const known = this.#known.get(secondaryId);
      // The groups of the paths matter only when there is a filter.
      if (known !== undefined)
        wanted ??= new Set(
          paths.map((path) => groups.groupOf(path)).filter((group) => group !== undefined),
        );
      const asked = [...(wanted ?? [])].filter((group) => known?.isWithheld.has(group) !== true);
      const found = await membership.findFilter(secondaryId, asked);
      if (found === undefined) {
        this.#known.delete(secondaryId);
        return undefined;
      }
      if (known?.generation === found.generation) {
        const withheldGroups = new Set(found.withheldGroups);
        for (const group of asked) known.isWithheld.set(group, withheldGroups.has(group));
        return known;
      }
      this.#known.set(secondaryId, { generation: found.generation, isWithheld: new Map() });
    }
  }

  /** A group without a known verdict does not cross. */
  #passes({ isWithheld }: Known, path: string): boolean {
    const group = this.#options.groups.groupOf(path);
    return group === undefined || isWithheld.get(group) === false;
  }
}
