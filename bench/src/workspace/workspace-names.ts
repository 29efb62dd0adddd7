/** Names, tags and queries of the bench, from a seed, so that no two queries need be equal. */
const WORDS = (
  'web api billing auth gateway data lake stream batch infra network vpc dns cert vault audit ' +
  'report search index mail notify queue worker cache redis store order cart pay fraud risk user ' +
  'profile media video image edge core shared portal ledger metrics alert backup archive quota'
).split(' ');
const ENVIRONMENTS = ['prod', 'staging', 'dev', 'test'];
/** Workspaces of a team: an organization grows by more teams, not by larger ones. */
const PER_TEAM = 2000;

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const pick = (list: readonly string[], random: number): string =>
  list[Math.floor(random * list.length)] ?? '';

const serialOf = (at: number): string => at.toString(36).padStart(4, '0');

const partsOf = (at: number) => {
  const random = seededRandom(at);
  return {
    words: [pick(WORDS, random()), pick(WORDS, random())],
    environment: pick(ENVIRONMENTS, random()),
    team: `t${Math.floor(at / PER_TEAM)}`,
  };
};

/** "billing-cache-prod-1r4h": the serial is of this workspace alone. */
export const nameOf = (at: number): string => {
  const { words, environment } = partsOf(at);
  return `${words.join('-')}-${environment}-${serialOf(at)}`;
};

export const tagsOf = (at: number): readonly (readonly [string, string])[] => {
  const { environment, team } = partsOf(at);
  return [
    ['env', environment],
    ['team', team],
  ];
};

export type Query = (random: () => number, count: number) => string;

const PAGE = 20;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'.split('');

const tagFilter = (at: number, key: string, value: string): string =>
  `filter[tagged][${at}][key]=${key}&filter[tagged][${at}][value]=${value}`;

const anyAt = (random: () => number, count: number): number => Math.floor(random() * count);

const anyTeam = (random: () => number, count: number): string => partsOf(anyAt(random, count)).team;

/** Occurs more often as an organization grows, so that its pages vary in size. */
export const SELDOM = 'two characters, seldom';

/** Queries by their names in the table. */
export const QUERIES: Readonly<Record<string, Query>> = {
  'default order': () => '',
  'by name, descending': () => 'sort=-name',
  'by latest change': () => 'sort=latest-change-at',
  'by latest change, descending': () => 'sort=-latest-change-at',
  'by current run': () => 'sort=current-run.created-at',
  'by current run, descending': () => 'sort=-current-run.created-at',
  'last page': (_random, count) => `page[number]=${Math.ceil(count / PAGE)}`,
  'last page by latest change': (_random, count) =>
    `sort=latest-change-at&page[number]=${Math.ceil(count / PAGE)}`,
  'a page in the middle': (random, count) =>
    `page[number]=${Math.ceil((count * (0.4 + 0.2 * random())) / PAGE)}`,
  // Two words match enough names to fill a page even in the smallest organization.
  'start of the name': (random) =>
    `search[wildcard-name]=${pick(WORDS, random())}-${pick(WORDS, random()).slice(0, 1)}*`,
  'start of the name, one word': (random) => `search[wildcard-name]=${pick(WORDS, random())}*`,
  'end of the name': (random, count) => `search[wildcard-name]=*-${serialOf(anyAt(random, count))}`,
  'part, rare': (random, count) =>
    `search[name]=${pick(ENVIRONMENTS, random()).slice(-1)}-${serialOf(anyAt(random, count)).slice(0, 3)}`,
  'part, absent': (random) =>
    `search[name]=${Array.from({ length: 6 }, () => pick(LETTERS, random())).join('')}`,
  'part, common': (random) => {
    const word = pick(WORDS, random());
    return `search[name]=${word.slice(0, 3 + Math.floor(random() * (word.length - 2)))}`;
  },
  'part, very common': (random) =>
    `search[name]=${['-', 'e', ...ENVIRONMENTS, 'rod', 'est', 'tag', 'dev-'][Math.floor(random() * 10)]}`,
  'two characters': (random) => {
    const word = pick(WORDS, random());
    return `search[name]=${word.slice(Math.floor(random() * (word.length - 1))).slice(0, 2)}`;
  },
  [SELDOM]: (random) => `search[name]=${pick(LETTERS, random())}${pick(LETTERS, random())}`,
  'part, by latest change': (random) =>
    `search[name]=${pick(WORDS, random())}&sort=-latest-change-at`,
  'two tag filters': (random, count) =>
    `${tagFilter(0, 'env', pick(ENVIRONMENTS, random()))}&${tagFilter(1, 'team', anyTeam(random, count))}`,
  'two tag filters, by latest change': (random, count) =>
    `sort=latest-change-at&${tagFilter(0, 'env', pick(ENVIRONMENTS, random()))}&${tagFilter(1, 'team', anyTeam(random, count))}`,
  'two tag keys': () => 'search[tags]=env,team',
};

/** Queries whose total is found by counting the matches and then cached. */
export const COUNTED_ONCE: readonly string[] = ['part, common', 'part, by latest change'];

/** Queries of a caller who sees few workspaces. */
export const RESTRICTED_QUERIES: Readonly<Record<string, Query>> = {
  'default order': () => '',
  'by latest change': () => 'sort=latest-change-at',
  'part, common': (random) => `search[name]=${pick(WORDS, random())}`,
};

/** A request to create one. */
export const workspaceDocument = (at: number) => ({
  data: {
    type: 'workspaces',
    attributes: { name: nameOf(at) },
    relationships: {
      'tag-bindings': {
        data: tagsOf(at).map(([key, value]) => ({
          type: 'tag-bindings',
          attributes: { key, value },
        })),
      },
    },
  },
});
