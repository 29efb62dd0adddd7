import { propertySettings } from '@keelson/testkit';

/** A trial with faults or bad input: a promise, and a bounded run that tries to break it. */
export interface ChaosContext {
  /** Number of the trial's units. */
  readonly count: number;
  /** The same seed and count give the same run. */
  readonly seed: number;
  /** Whether the run's time is used up: operations in progress then finish and are judged. */
  readonly isOver: () => boolean;
  /** Limit of each response; generous in tests, which share the machine with others. */
  readonly patienceMs: number;
  /** Progress, shown to whoever waits. */
  readonly say: (line: string) => void;
}

export interface ChaosReport {
  /** Broken promises with the inputs that broke them; empty if everything held. */
  readonly broken: readonly string[];
  /** Name and value of what was counted. */
  readonly figures: Readonly<Record<string, string | number>>;
}

export interface Chaos {
  readonly name: string;
  /** The target that it tests, as in docs/chaos.md. */
  readonly promise: string;
  /** The unit of the counts. */
  readonly unit: 'inputs' | 'kills' | 'faults' | 'cases' | 'seconds';
  /** Counts of a full run and of the short one in the tests. */
  readonly counts: { readonly full: number; readonly short: number };
  /** Excluded from the tests, because other tests cover its faults. */
  readonly isApart?: true;
  run(context: ChaosContext): Promise<ChaosReport>;
}

/** Count and seed of a run, which the settings of property tests change for a trial of inputs. */
export const extentOf = (
  { counts, unit }: Chaos,
  form: keyof Chaos['counts'],
  seed: number,
): Pick<ChaosContext, 'count' | 'seed'> => {
  const settings = unit === 'inputs' ? propertySettings({ numRuns: counts[form], seed }) : {};
  return { count: settings.numRuns ?? counts[form], seed: settings.seed ?? seed };
};
