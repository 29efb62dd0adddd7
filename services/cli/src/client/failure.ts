/** Exit codes of the command line; docs/command-line.md lists them. */
export const EXIT = {
  done: 0,
  /** The server refused the request or could not be reached, or something on this machine failed. */
  failed: 1,
  /** The command worked, and reports a problem: sealed, findings of `doctor`, issuers about to expire. */
  notWell: 2,
  /** Unknown or missing arguments. */
  usage: 64,
} as const;

/** An error whose message, one sentence, also says what to do. */
export class CliFailure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
