/** A program that executes phases, as messages to people name it and its settings. */
export interface Program {
  /** "built-in runner". */
  readonly name: string;
  /** Settings that such programs have alike begin with it: `KEELSON_RUNNER_`. */
  readonly prefix: string;
  /** The setting with which runs are executed without a sandbox: `KEELSON_RUNNER=unsafe`. */
  readonly unsafe: string;
}
