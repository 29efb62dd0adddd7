/**
 * How many names of an organization come before some of them, so that a page far from both ends is read
 * without passing all before it. The names are found in the background when such a page is first asked
 * for; what came and went since is added to what was counted. See docs/decisions/0092.
 */
import { setImmediate } from 'node:timers/promises';
import type { Store } from '@keelson/storage';
import { workspaceNames } from './workspace-records.ts';
import type { Tables } from './workspace-selection.ts';

export interface RankedName {
  /** In lower case; there may be no workspace of it any more. */
  readonly name: string;
  /** Workspaces whose names come before it. */
  readonly rank: number;
}

interface Ranks {
  /** In the order of names. */
  known: { readonly name: string; rank: number }[];
  /** Place of the log of which the ranks are. */
  position: number;
  isWhole: boolean;
  finding: Promise<void> | undefined;
}

type RankedStore = Pick<Store, 'select' | 'position' | 'comingAndGoing'>;

/** Steps that two may be apart before all are found anew. */
const MAX_GAP = 4;
/** Read by one query while ranks are found: it may not hold the process for long. */
const STEPS_AT_ONCE = 16;
/** Organizations of which ranks are kept; the one used longest ago is dropped. */
const MAX_ORGANIZATIONS = 100;
/** A step is made again when a name came or went in it meanwhile. */
const MAX_TRIES = 20;

const { prefix } = workspaceNames.collection;

/** What comes before all names. */
const beforeAll = () => ({ name: '', rank: 0 });

/** Index of the first that comes after, where `comesAfter` holds from some place on. */
const firstThat = <T>(list: readonly T[], comesAfter: (item: T) => boolean): number => {
  let low = 0;
  for (let high = list.length; low < high; ) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && comesAfter(item)) high = middle;
    else low = middle + 1;
  }
  return low;
};

export const createNameRanks = (store: RankedStore, step: number) => {
  const organizations = new Map<string, Ranks>();

  const namesOf = (tables: Tables, organizationId: string, from: string) =>
    tables
      .selectFrom('workspace')
      .where('organization_id', '=', organizationId)
      .where('name_lower', '>=', from);

  const start = (position: number): Ranks => ({
    known: [beforeAll()],
    position,
    isWhole: false,
    finding: undefined,
  });

  /** Names of the organization that came or went after `position`; undefined: too long ago to tell. */
  const changesSince = (organizationId: string, position: number) => {
    const below = `${prefix}${organizationId}/`;
    return store
      .comingAndGoing(prefix, position)
      ?.filter(({ path }) => path.startsWith(below))
      .map(({ path, ...change }) => ({ ...change, name: path.slice(below.length).toLowerCase() }));
  };

  /** @returns whether the ranks are those of the head; else what happened meanwhile is not known */
  const follow = async (organizationId: string, ranks: Ranks): Promise<boolean> => {
    const position = await store.position();
    const changes = changesSince(organizationId, ranks.position);
    if (changes === undefined) return false;
    // A change may be newer than the position that was asked for.
    ranks.position = Math.max(ranks.position, position, changes.at(-1)?.sequence ?? 0);
    const grown = new Map<number, number>();
    for (const { name, isThere } of changes) {
      const after = firstThat(ranks.known, (ranked) => name < ranked.name);
      grown.set(after, (grown.get(after) ?? 0) + (isThere ? 1 : -1));
    }
    let growth = 0;
    for (const [at, ranked] of grown.size === 0 ? [] : ranks.known.entries()) {
      growth += grown.get(at) ?? 0;
      ranked.rank += growth;
    }
    return true;
  };

  /** @returns whether the next names are found, or none is left; else others came or went meanwhile */
  const findNext = async (organizationId: string, ranks: Ranks): Promise<boolean> => {
    const last = ranks.known.at(-1);
    if (last === undefined || !(await follow(organizationId, ranks))) return false;
    const { position } = ranks;
    const rows = await store.select((tables: Tables) =>
      namesOf(tables, organizationId, last.name)
        .select('name_lower')
        .orderBy('name_lower')
        .limit(STEPS_AT_ONCE * step + 1),
    );
    if (!(await follow(organizationId, ranks))) return false;
    const names = rows.map(({ name_lower: name }) => name);
    const end = names.at(-1) ?? last.name;
    const isExact = changesSince(organizationId, position)?.every(
      (change) => change.name < last.name || change.name > end,
    );
    if (isExact !== true) return false;
    const { rank } = last;
    const before = ranks.known.length;
    for (let at = step; at < names.length; at += step) {
      const name = names[at] ?? '';
      // Names may differ in case alone.
      const first = firstThat(names, (other) => other >= name);
      if (first > 0 && name !== ranks.known.at(-1)?.name)
        ranks.known.push({ name, rank: rank + first });
    }
    ranks.isWhole = names.length <= STEPS_AT_ONCE * step;
    return ranks.isWhole || ranks.known.length > before;
  };

  const findAll = async (organizationId: string, ranks: Ranks): Promise<void> => {
    for (let tries = 0; !ranks.isWhole && tries < MAX_TRIES; ) {
      tries = (await findNext(organizationId, ranks)) ? 0 : tries + 1;
      await setImmediate();
    }
  };

  const find = (organizationId: string, ranks: Ranks): void => {
    if (ranks.finding !== undefined) return;
    if (ranks.isWhole) {
      ranks.known = [beforeAll()];
      ranks.isWhole = false;
    }
    // What could not be found is looked for again by the next who asks.
    ranks.finding = findAll(organizationId, ranks)
      .catch(() => undefined)
      .finally(() => {
        ranks.finding = undefined;
      });
  };

  return {
    /**
     * The nearest known name that no more than `offset` workspaces come before; undefined where none
     * is near yet, and then it is being looked for.
     */
    before: async (organizationId: string, offset: number): Promise<RankedName | undefined> => {
      let ranks = organizations.get(organizationId);
      if (ranks === undefined || !(await follow(organizationId, ranks))) {
        ranks = start(await store.position());
        // Noted from now on.
        store.comingAndGoing(prefix, ranks.position);
      }
      organizations.delete(organizationId);
      organizations.set(organizationId, ranks);
      const [oldest] = organizations.keys();
      if (organizations.size > MAX_ORGANIZATIONS && oldest !== undefined) {
        organizations.delete(oldest);
      }
      const found = ranks.known[firstThat(ranks.known, ({ rank }) => rank > offset) - 1];
      if (found !== undefined && offset - found.rank <= MAX_GAP * step) return { ...found };
      find(organizationId, ranks);
      return undefined;
    },
  };
};
