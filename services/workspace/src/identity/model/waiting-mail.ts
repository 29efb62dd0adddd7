/** A mail that has not been sent yet. */
export interface WaitingMail {
  /** Attempts that failed. */
  readonly attempts: number;
  readonly dueAtMs: number;
}
