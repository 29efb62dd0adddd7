/** The theme that a person has chosen in this browser, in place of the system's. */
import { useSyncExternalStore } from 'react';

export const THEMES = ['light', 'dark', 'system'] as const;

export type Theme = (typeof THEMES)[number];

const KEY = 'keelson-theme';
const listeners = new Set<() => void>();

const keptTheme = (): Theme => THEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'system';

/** Shows the page in the theme that was chosen. */
export const applyTheme = (): void => {
  document.documentElement.dataset['theme'] = keptTheme();
};

/** Keeps the choice for this browser, and shows it. */
export const chooseTheme = (theme: Theme): void => {
  if (theme === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  applyTheme();
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, keptTheme);
