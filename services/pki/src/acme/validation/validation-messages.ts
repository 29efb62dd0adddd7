/** What the answering thread and the thread that validates say to each other, some at a time. */
import type {
  ChallengeAttempt,
  ChallengeOutcome,
  ValidationSettings,
} from './challenge-validation.ts';

export interface ValidationJob {
  readonly id: number;
  readonly attempt: ChallengeAttempt;
  readonly settings: ValidationSettings;
}

export type ValidationResult =
  | { readonly id: number; readonly outcome: ChallengeOutcome }
  /** A bug of ours: the other side's mistakes are outcomes. */
  | { readonly id: number; readonly thrown: unknown };

/** "up": the thread has loaded. */
export type FromValidationThread = 'up' | readonly ValidationResult[];
