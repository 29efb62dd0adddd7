/** Search results: screens immediately, entities once the APIs answer. */
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useSession } from '../api/session.ts';
import { ACTION_SOURCES } from './action-sources.ts';
import { bestMatches, type Found, SEARCH_SOURCES } from './search-sources.ts';
import { useScreens } from './use-screens.ts';

export type { Found } from './search-sources.ts';

export interface FoundGroup {
  readonly title: string;
  readonly found: readonly Found[];
  /** All matches, of which some are shown. */
  readonly count: number;
}

export interface SearchResults {
  /** Those with matches. */
  readonly groups: readonly FoundGroup[];
  /** Sentences that name the parts searched, where not everything was. */
  readonly scopes: readonly string[];
}

const STALE_MS = 30_000;

const SOURCES = [...SEARCH_SOURCES, ...ACTION_SOURCES];

/**
 * @param text what is searched; "" finds the screens and the actions
 * @param actions those that have no page
 */
export const useFound = (text: string, actions: readonly Found[]): SearchResults => {
  const session = useSession();
  const client = useQueryClient();
  const { secrets, workspaces, namespace } = session;
  const sources = SOURCES.filter(({ needs }) => session[needs] !== undefined);
  const answers = useQueries({
    queries: sources.map((source) => ({
      queryKey: ['found', secrets, workspaces, namespace, source.title, text],
      enabled: text !== '',
      staleTime: STALE_MS,
      retry: false,
      queryFn: ({ signal }: { signal: AbortSignal }) => source.find({ text, client, signal }),
    })),
  });
  const offered = useScreens().flatMap((group) =>
    group.screens.map(({ title, to }) => ({ title, more: group.title, address: to as string })),
  );
  const fitting = (all: readonly Found[]): readonly Found[] =>
    text === '' ? all : bestMatches(all, text, [({ title }) => title, ({ more = '' }) => more]);
  const screens = fitting(offered);
  const performed = fitting(actions);
  const entities = sources.map(({ title }, at) => {
    const { found = [], count = found.length } = answers[at]?.data ?? {};
    return { title, found, count };
  });
  // Screens first, because they are known immediately and later results must not move them.
  const groups = [
    { title: 'Screens', found: screens, count: screens.length },
    { title: 'Actions', found: performed, count: performed.length },
    ...entities,
  ];
  return {
    groups: groups.filter(({ found }) => found.length > 0),
    scopes: [...new Set(answers.flatMap(({ data }) => data?.scope ?? []))],
  };
};
