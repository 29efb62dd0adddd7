/** What a trial by faults or bad input is: a promise, and a bounded run that tries to break it. */
export interface ChaosContext {
  /** How many inputs, rounds or faults; the trial decides what one is. */
  readonly count: number;
  /** The same seed and count give the same run. */
  readonly seed: number;
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
  /** The target it tries, as in docs/guarantees.md. */
  readonly promise: string;
  /**
   * Of a full run, and of a short one. The tests run the short form, unless `isApart`: it starts clusters
   * of processes, and each of its faults has a test of its own beside what it tries.
   */
  readonly counts: { readonly full: number; readonly short: number };
  readonly isApart?: true;
  run(context: ChaosContext): Promise<ChaosReport>;
}
