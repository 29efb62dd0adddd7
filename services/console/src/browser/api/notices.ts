/** Notices about changes: that one was made, and the warnings of its answer. */
import { useSyncExternalStore } from 'react';

export interface Notice {
  readonly id: number;
  readonly text: string;
  /** A warning stays until it is dismissed. */
  readonly isWarning: boolean;
}

/** How long a notice without a warning is shown. */
const SHOWN_MS = 8_000;
/** The oldest notices give way to others. */
const MAX_NOTICES = 5;

const listeners = new Set<() => void>();
let notices: readonly Notice[] = [];
let lastId = 0;

const setNotices = (next: readonly Notice[]): void => {
  notices = next.slice(-MAX_NOTICES);
  for (const listener of listeners) listener();
};

export const dismiss = (id: number): void => setNotices(notices.filter((one) => one.id !== id));

/** A text that is shown already is shown once, as the newest. */
const add = (text: string, isWarning: boolean): number => {
  lastId += 1;
  setNotices([...notices.filter((one) => one.text !== text), { id: lastId, text, isWarning }]);
  return lastId;
};

export const notify = (text: string): void => {
  const id = add(text, false);
  setTimeout(() => dismiss(id), SHOWN_MS);
};

/** Shows the warnings of an answer. */
export const warn = (warnings: readonly string[] | null | undefined): void => {
  for (const text of warnings ?? []) add(text, true);
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useNotices = (): readonly Notice[] => useSyncExternalStore(subscribe, () => notices);
