/** The keyboard shortcuts of the console: all of them are listed here. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import buttonStyles from '../components/button.module.css';
import type { Screen } from './screens.ts';
import { useScreens } from './use-screens.ts';

/** The key after "g" that goes to a screen. */
const SCREEN_KEYS: Readonly<Partial<Record<Screen['to'], string>>> = {
  '/app': 'w',
  '/app/settings/tokens': 'i',
  '/app/settings/account': 'u',
  '/ui/certificates': 'c',
  '/ui/': 'o',
  '/ui/policies': 'p',
  '/ui/tokens': 't',
  '/ui/mounts': 'm',
  '/ui/namespaces': 'n',
  '/ui/leases': 'l',
  '/ui/audit': 'a',
  '/ui/snapshots': 's',
  '/ui/replication': 'r',
};

export interface Shortcut {
  /** Pressed one after the other. */
  readonly keys: readonly string[];
  readonly title: string;
  readonly run: () => void;
}

/** Single keys are no shortcuts for whoever has switched them off, as people who speak to their computer do. */
const OFF_KEY = 'keelson-shortcuts';
const listeners = new Set<() => void>();

const areOn = (): boolean => localStorage.getItem(OFF_KEY) !== 'off';

/** Switches the shortcuts of single keys on or off in this browser. */
export const switchShortcuts = (isOn: boolean): void => {
  if (isOn) localStorage.removeItem(OFF_KEY);
  else localStorage.setItem(OFF_KEY, 'off');
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useAreShortcutsOn = (): boolean => useSyncExternalStore(subscribe, areOn);

/** Whether a key is meant for what has the focus: a field, or a dialog that is open. */
const isTaken = ({ target }: KeyboardEvent): boolean =>
  (target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select') !== null)) ||
  document.querySelector('[role="dialog"], dialog[open]') !== null;

/** The first button of the page by which something is created or started. */
const pressFirst = (): void =>
  document
    .querySelector<HTMLButtonElement>(
      `main button.${buttonStyles['primary']}[aria-haspopup="dialog"]:enabled`,
    )
    ?.click();

/** The shortcuts that lead somewhere for whoever has signed in. */
export const useShortcuts = (opened: {
  readonly search: () => void;
  readonly help: () => void;
}): readonly Shortcut[] => {
  const navigate = useNavigate();
  const screens = useScreens().flatMap((group) => group.screens);
  return [
    { keys: ['/'], title: 'Search and act', run: opened.search },
    { keys: ['?'], title: 'Show the keyboard shortcuts', run: opened.help },
    { keys: ['c'], title: 'Create or start what the page is for', run: pressFirst },
    ...screens.flatMap(({ to, title }): Shortcut[] => {
      const key = SCREEN_KEYS[to];
      return key === undefined
        ? []
        : [{ keys: ['g', key], title: `Go to ${title}`, run: () => void navigate({ to }) }];
    }),
  ];
};

/** Runs a shortcut when its keys are pressed, unless somebody types or a dialog is open. */
export const useShortcutKeys = (shortcuts: readonly Shortcut[]): void => {
  const pressed = useRef<readonly string[]>([]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.key === 'Shift') return;
      if (!areOn() || event.defaultPrevented || isTaken(event)) {
        pressed.current = [];
        return;
      }
      const begins = (keys: readonly string[], shortcut: Shortcut): boolean =>
        keys.every((key, at) => shortcut.keys[at] === key);
      const keys = [[...pressed.current, event.key], [event.key]].find((some) =>
        shortcuts.some((shortcut) => begins(some, shortcut)),
      );
      pressed.current = keys ?? [];
      const whole = shortcuts.find(
        (shortcut) => keys?.length === shortcut.keys.length && begins(keys, shortcut),
      );
      if (whole === undefined) return;
      pressed.current = [];
      event.preventDefault();
      whole.run();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
};
