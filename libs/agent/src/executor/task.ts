/** Input of the process that executes a phase: one line of JSON on its standard input. */
import type { Way } from '@keelson/sandbox/inside';
import type { Phase } from '../control-plane.ts';
import type { PhasePart } from '../phase.ts';
import type { Program } from '../program.ts';

/** Exit code of an executor whose part of the phase is over, while the phase is not. */
export const PART_IS_OVER = 10;

export interface Task {
  /** Who has started the executor. */
  readonly program: Program;
  /** If absent, only ends processes that an interrupted executor left behind. */
  readonly phase?: Phase;
  /** The only places that a recovery reaches, which are those of its phase; absent if they have no limit. */
  readonly allowedEgress?: readonly string[];
  /** The part of the phase; absent if it is executed as a whole. */
  readonly part?: PhasePart;
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
  /** How servers are reached from a sandbox; absent outside of one. */
  readonly way?: Way;
}
