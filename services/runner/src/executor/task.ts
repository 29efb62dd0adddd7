/** Input of the process that executes a phase: one line of JSON on its standard input. */
import type { Phase } from '@keelson/agent';

export interface Task {
  /** If absent, only ends processes that an interrupted executor left behind. */
  readonly phase?: Phase;
  /** Folder of the executor, which its user owns. */
  readonly folder: string;
  /** Address of the control plane's API. */
  readonly address: string;
  /** "keelson.example:8443", as configurations refer to the control plane. */
  readonly host: string;
  /** The program of the tool. */
  readonly tool: string;
  /** The environment of the tool, without the variables of the run. */
  readonly environment: Readonly<Record<string, string>>;
  /** PEM file; null means the authorities of the system. */
  readonly caFile: string | null;
  readonly timeLimitSeconds: number;
  readonly outputLimitBytes: number;
}
