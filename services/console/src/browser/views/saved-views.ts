/**
 * Filters of lists that a person has given a name. They are kept in the storage of this browser by the id of the
 * account, so that another person at the same machine has their own; the server knows nothing of them.
 */
import { useMemo, useSyncExternalStore } from 'react';
import { useDocument } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import type { OneDocument } from '../api/workspaces-api.ts';

export interface SavedView {
  readonly name: string;
  /** The filters by name, as the list has them in its address. */
  readonly filter: Readonly<Record<string, unknown>>;
}

const PREFIX = 'keelson-views';
/** Views of one list that are kept at most. */
export const MAX_VIEWS = 30;
export const MAX_NAME_LENGTH = 60;

const listeners = new Set<() => void>();

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  // Another tab of the browser may save a view.
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
};

const isView = (value: unknown): value is SavedView => {
  const { name, filter } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && name !== '' && typeof filter === 'object' && filter !== null;
};

/** The views in a stored text, which anybody at the machine may have changed. */
export const parseViews = (text: string | null): readonly SavedView[] => {
  try {
    const stored: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(stored) ? stored.filter(isView).slice(0, MAX_VIEWS) : [];
  } catch {
    return [];
  }
};

export interface SavedViews {
  readonly views: readonly SavedView[];
  /** @throws Error if there are too many, or the browser stores nothing */
  readonly save: (view: SavedView) => void;
  readonly remove: (name: string) => void;
}

/**
 * The views of a list that the person has saved.
 * @param list "runs", or "workspaces of NAME"
 * @returns undefined for a token that belongs to no account
 */
export const useSavedViews = (list: string): SavedViews | undefined => {
  const { workspaces } = useSession();
  const { data: account } = useDocument<OneDocument<unknown>>('account/details', {
    enabled: workspaces !== undefined,
  });
  const key = account && `${PREFIX} ${account.data.id} ${list}`;
  const text = useSyncExternalStore(subscribe, () =>
    key === undefined ? null : localStorage.getItem(key),
  );
  const views = useMemo(() => parseViews(text), [text]);
  if (key === undefined) return undefined;
  const store = (next: readonly SavedView[]): void => {
    try {
      if (next.length === 0) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(next));
    } catch {
      throw new Error('This browser stores nothing for this site.');
    }
    for (const listener of listeners) listener();
  };
  return {
    views,
    save: (view) => {
      const others = views.filter(({ name }) => name !== view.name);
      if (others.length >= MAX_VIEWS)
        throw new Error(`There are ${MAX_VIEWS} views of this list: delete one of them.`);
      store([...others, view].toSorted((a, b) => a.name.localeCompare(b.name)));
    },
    remove: (name) => store(views.filter((view) => view.name !== name)),
  };
};
