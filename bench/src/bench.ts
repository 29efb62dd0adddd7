/** A bench: a claim, and a run that measures the figure and its limit in turn. */
export interface BenchContext {
  /** A smoke run of seconds: it proves that the bench still works; its figures are meaningless. */
  readonly quick: boolean;
  /** Base URL of a running compatible server instead of one the bench starts. */
  readonly target?: string | undefined;
  readonly token?: string | undefined;
  /** Headers of requests to /v1: those of the specification (absent), or those of the vendor's clients. */
  readonly dialect?: 'vendor' | undefined;
  /** Number of records, for benches that use one; their own default when absent. */
  readonly records?: number | undefined;
  /** Progress, shown to whoever waits. */
  readonly say: (line: string) => void;
}

/** One line of the table. Absent parts were not measured for it. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The limit or peer it is compared with, measured in the same run. */
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
