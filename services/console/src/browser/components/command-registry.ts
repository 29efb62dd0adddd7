/** The commands that the parts of a page register, so that the page shows them in one place. */
import { createContext, useSyncExternalStore } from 'react';

export interface Command {
  /** "curl", or the name of the tool. */
  readonly tool: string;
  readonly text: string;
}

export interface CommandEntry {
  /** The heading: the title of the card, or of the page. */
  readonly title: string;
  readonly commands: readonly Command[];
  /** Stands in the document where the part of the page does. */
  readonly place: Node;
}

export interface CommandRegistry {
  /** @returns removes the entry */
  readonly add: (entry: CommandEntry) => () => void;
  readonly entries: () => readonly CommandEntry[];
  readonly subscribe: (listener: () => void) => () => void;
}

/** A registry without entries. */
export const createCommandRegistry = (): CommandRegistry => {
  const listeners = new Set<() => void>();
  let entries: readonly CommandEntry[] = [];
  const change = (next: readonly CommandEntry[]): void => {
    entries = next;
    for (const listener of listeners) listener();
  };
  return {
    add: (entry) => {
      change([...entries, entry]);
      return () => change(entries.filter((other) => other !== entry));
    },
    entries: () => entries,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

/** The registry of the page; none in a dialog, which shows its commands itself. */
export const CommandsOfPage = createContext<CommandRegistry | undefined>(undefined);

/** The title of the innermost card, or of the page. */
export const TitleOfPart = createContext('');

const follows = (a: Node, b: Node): boolean =>
  (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_PRECEDING) !== 0;

/** The entries in the order of the page. */
export const useCommandEntries = (registry: CommandRegistry): readonly CommandEntry[] =>
  useSyncExternalStore(registry.subscribe, registry.entries).toSorted((a, b) =>
    follows(a.place, b.place) ? 1 : -1,
  );
