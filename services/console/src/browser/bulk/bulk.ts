/** A change of several things: what becomes of each before it is made, and what has become of it. */
import type { ReactNode } from 'react';
import type { Fields } from '../components/action-button.tsx';
import type { Command } from '../components/commands.tsx';
import { counted } from '../components/format.ts';
import type { Tone } from '../components/pill.tsx';
import type { Outcome } from './each-in-turn.ts';

/** The fate of one thing. */
export interface Verdict {
  /** It is changed; it stays, because it is so already; or the server would refuse it. */
  readonly kind: 'changes' | 'stays' | 'refused';
  /** A sentence on what happens, or why nothing does. */
  readonly words: string;
}

export interface Bulk<Thing> {
  /** "Lock": the button, and with the number of things the title of the dialog. */
  readonly label: string;
  /** Joins the label with the number of things: "Add tags to 3 workspaces". */
  readonly preposition?: string;
  readonly tone?: 'danger' | 'primary';
  /** "workspace" */
  readonly noun: string;
  readonly idOf: (thing: Thing) => string;
  readonly nameOf: (thing: Thing) => string;
  /**
   * Reads a thing as it is now, because others may have changed it since it was listed.
   * @throws Error whose message says why it cannot be changed
   */
  readonly read: (thing: Thing, signal: AbortSignal) => Promise<Thing>;
  readonly judge: (thing: Thing, fields: Fields) => Verdict;
  readonly change: (thing: Thing, fields: Fields) => Promise<unknown>;
  /** The change of one thing on the command line. */
  readonly commands: (thing: Thing, fields: Fields) => readonly Command[];
  /** An explanation, and the fields of the dialog. */
  readonly children: ReactNode;
  /** A text that the person has to type, if what will be changed calls for it. */
  readonly typed?: (changed: readonly Thing[]) => string | undefined;
}

/** One thing in the dialog. */
export interface Line<Thing> {
  readonly thing: Thing;
  readonly verdict: Verdict;
  /** Undefined until the change was attempted. */
  readonly outcome: Outcome | undefined;
}

export const VERDICT_WORDS: Readonly<Record<Verdict['kind'], readonly [Tone, string]>> = {
  changes: ['accent', 'will change'],
  stays: ['plain', 'stays'],
  refused: ['bad', 'refused'],
};

export const OUTCOME_WORDS: Readonly<Record<Outcome['kind'], readonly [Tone, string]>> = {
  done: ['good', 'done'],
  failed: ['bad', 'failed'],
  unsent: ['plain', 'not attempted'],
};

/** A line that needs a person comes first. */
const rankOf = ({ verdict, outcome }: Line<unknown>): number => {
  if (outcome !== undefined) return ['failed', 'unsent', 'done'].indexOf(outcome.kind);
  return ['refused', 'changes', 'stays'].indexOf(verdict.kind);
};

/** The lines with what needs a person first. */
export const ranked = <Thing>(lines: readonly Line<Thing>[]): readonly Line<Thing>[] =>
  lines.toSorted((a, b) => rankOf(a) - rankOf(b));

/** "Lock 3 workspaces", "Add tags to 3 workspaces" */
export const titleOf = <Thing>({ label, preposition, noun }: Bulk<Thing>, count: number): string =>
  [label, preposition ?? [], counted(count, noun)].flat().join(' ');

/** "2 done, 1 failed" */
export const countedOutcomes = (outcomes: Iterable<Outcome>): string => {
  const groups = Map.groupBy(outcomes, ({ kind }) => kind);
  return (['done', 'failed', 'unsent'] as const)
    .flatMap((kind) => {
      const count = groups.get(kind)?.length ?? 0;
      return count === 0 ? [] : [`${count.toLocaleString()} ${OUTCOME_WORDS[kind][1]}`];
    })
    .join(', ');
};

/** "2 to change, 1 refused" */
export const countedVerdicts = (lines: readonly Line<unknown>[]): string => {
  const count = (kind: Verdict['kind']): string =>
    lines.filter(({ verdict }) => verdict.kind === kind).length.toLocaleString();
  return `${count('changes')} to change, ${count('stays')} unchanged, ${count('refused')} refused`;
};

const NAMES_SHOWN = 5;

/** "Not done: a, b and 3 more." */
export const namesLeft = (names: readonly string[]): string => {
  if (names.length === 0) return '';
  const more = names.length - NAMES_SHOWN;
  return ` Not done: ${names.slice(0, NAMES_SHOWN).join(', ')}${more > 0 ? ` and ${more.toLocaleString()} more` : ''}.`;
};
