/**
 * How many names of an organization come before some of them, so that a page far from both ends is read
 * without passing all before it. They are found step by step on the way to the first such page, which
 * passes those names anyway; what came and went since is added to what was counted.
 * See docs/decisions/0092.
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
  /** The step that is being made. */
  finding: Promise<boolean> | undefined;
}

type RankedStore = Pick<Store, 'select' | 'position' | 'comingAndGoing'>;

/** Steps that two may be apart before all are found anew. */
const MAX_GAP = 2;
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

  /** The name a step after another, and how many of the same, but for their case, are before it. */
  const findStep = async (organizationId: string, from: string) => {
    const [found] = await store.select((tables: Tables) =>
      tables
        .selectFrom('workspace')
        .select((rows) => [
          'name_lower',
          rows
            .selectFrom('workspace as twin')
            .select(({ fn }) => fn.countAll<number | bigint>().as('twins'))
            .where('twin.organization_id', '=', organizationId)
            .whereRef('twin.name_lower', '=', 'workspace.name_lower')
            .whereRef('twin.id', '<', 'workspace.id')
            .as('twins'),
        ])
        .where('organization_id', '=', organizationId)
        .where('name_lower', '>=', from)
        .orderBy('name_lower')
        .orderBy('id')
        .limit(1)
        .offset(step),
    );
    return found && { name: found.name_lower, twins: Number(found.twins) };
  };

  /** @returns whether the next name is found, or none is left; else others came or went meanwhile */
  const findNext = async (organizationId: string, ranks: Ranks): Promise<boolean> => {
    const last = ranks.known.at(-1);
    if (last === undefined || !(await follow(organizationId, ranks))) return false;
    const { position } = ranks;
    const found = await findStep(organizationId, last.name);
    if (!(await follow(organizationId, ranks))) return false;
    const isExact = changesSince(organizationId, position)?.every(
      ({ name }) => name < last.name || (found !== undefined && name > found.name),
    );
    // More of one name than a step has are not passed.
    if (isExact !== true || found?.name === last.name) return false;
    if (found === undefined) ranks.isWhole = true;
    else ranks.known.push({ name: found.name, rank: last.rank + step - found.twins });
    return true;
  };

  /** As far as `offset`. @returns false: names come and go so fast that no step could be made */
  const findAsFarAs = async (
    organizationId: string,
    ranks: Ranks,
    offset: number,
  ): Promise<boolean> => {
    let tries = 0;
    while (!ranks.isWhole && (ranks.known.at(-1)?.rank ?? 0) + step <= offset) {
      ranks.finding ??= findNext(organizationId, ranks).finally(() => {
        ranks.finding = undefined;
      });
      tries = (await ranks.finding) ? 0 : tries + 1;
      if (tries === MAX_TRIES) return false;
      await setImmediate();
    }
    return true;
  };

  const keep = (organizationId: string, ranks: Ranks): void => {
    organizations.delete(organizationId);
    organizations.set(organizationId, ranks);
    const [oldest] = organizations.keys();
    if (organizations.size > MAX_ORGANIZATIONS && oldest !== undefined) {
      organizations.delete(oldest);
    }
  };

  const begin = async (): Promise<Ranks> => {
    const ranks = start(await store.position());
    // Noted from now on.
    store.comingAndGoing(prefix, ranks.position);
    return ranks;
  };

  const nearest = ({ known }: Ranks, offset: number): RankedName | undefined => {
    const found = known[firstThat(known, ({ rank }) => rank > offset) - 1];
    return found !== undefined && offset - found.rank <= MAX_GAP * step ? { ...found } : undefined;
  };

  return {
    /**
     * The nearest known name that no more than `offset` workspaces come before; undefined where it
     * cannot be told because names come and go too fast.
     */
    before: async (organizationId: string, offset: number): Promise<RankedName | undefined> => {
      const known = organizations.get(organizationId);
      if (known !== undefined && (await follow(organizationId, known))) {
        keep(organizationId, known);
        const isFound = await findAsFarAs(organizationId, known, offset);
        const found = isFound ? nearest(known, offset) : undefined;
        if (found !== undefined) return found;
      }
      const anew = await begin();
      keep(organizationId, anew);
      const isFound = await findAsFarAs(organizationId, anew, offset);
      return isFound ? nearest(anew, offset) : undefined;
    },
  };
};
