/** What a bench is: a claim, and a run that measures the figure and its limit side by side. */
export interface BenchContext {
  /** A smoke run of seconds: proves that the bench still works, its figures mean nothing. */
  readonly quick: boolean;
  /** Base URL of a running compatible server instead of one the bench starts. */
  readonly target?: string | undefined;
  readonly token?: string | undefined;
  /** Headers of requests to /v1: those of the specification (absent), or those of the vendor's clients. */
  readonly dialect?: 'vendor' | undefined;
  /** How many records there are, where a bench has a number of them; its own choice when absent. */
  readonly records?: number | undefined;
  /** Progress, shown to whoever waits. */
  readonly say: (line: string) => void;
}

/** One line of the table. Absent parts were not measured for it. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What it is compared with, measured in the same run. */
  readonly limit?: { readonly name: string; readonly value: number };
  readonly cpuMicrosecondsPerOperation?: number;
  readonly peakMemoryMegabytes?: number;
  readonly latencyMilliseconds?: LatencySummary;
}

export interface LatencySummary {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

export interface Bench {
  readonly name: string;
  /** The target it measures, as in docs/performance.md. */
  readonly claim: string;
  /** How it measures. */
  readonly method: string;
  run(context: BenchContext): Promise<readonly Figure[]>;
}
