/** What a trial by faults or bad input is: a promise, and a bounded run that tries to break it. */
export interface ChaosContext {
  /** How many of the trial's units. */
  readonly count: number;
  /** The same seed and count give the same run. */
  readonly seed: number;
  /** Whether the time given to the run is used up: what is under way ends, and is judged. */
  readonly isOver: () => boolean;
  /** No single answer may take longer. Tests, which share their machine with others, are patient. */
  readonly patienceMs: number;
  /** Progress, shown to whoever waits. */
  readonly say: (line: string) => void;
}

export interface ChaosReport {
  /** What was broken, with the input that did it; empty: everything held. */
  readonly broken: readonly string[];
  /** Name and value of what was counted. */
  readonly figures: Readonly<Record<string, string | number>>;
}

export interface Chaos {
  readonly name: string;
  /** The target it tries, as in docs/chaos.md. */
  readonly promise: string;
  /** What is counted. */
  readonly unit: 'inputs' | 'kills' | 'faults' | 'cases' | 'seconds';
  /** Of a full run, and of the short one that the tests run. */
  readonly counts: { readonly full: number; readonly short: number };
  /** The tests leave it out: other tests make its faults. */
  readonly isApart?: true;
  run(context: ChaosContext): Promise<ChaosReport>;
}
