/**
 * A KeelsonError on the wire: its code and parameters, from which the receiver rebuilds the same error.
 * Causes and stacks stay in the process that made them.
 */
import { ERROR_CODES, type ErrorCode, type ErrorParams, KeelsonError } from '@keelson/errors';

export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  /** JSON object of the error's parameters. */
  readonly detailsJson: string;
}

/** Anything thrown, as it is sent: unknown things become `internal`. */
export const toWireError = (thrown: unknown): WireError => {
  const { code, message, params } = KeelsonError.from(thrown);
  return { code, message, detailsJson: JSON.stringify(params) };
};

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code);

/** The parameters of an error, as far as they are what a peer of ours would send. */
export const parseErrorParams = (detailsJson: string): ErrorParams => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(detailsJson === '' ? '{}' : detailsJson);
  } catch {
    return {}; // The code alone still says what happened; a text without its parameters is legible.
  }
  if (typeof parsed !== 'object' || parsed === null) return {};
  return Object.fromEntries(
    Object.entries(parsed).filter(
      (entry): entry is [string, string | number] =>
        typeof entry[1] === 'string' || typeof entry[1] === 'number',
    ),
  );
};

/** The error a peer sent. A code of a newer version becomes `internal`, naming the code in its cause. */
export const fromWireError = (code: string, detailsJson: string): KeelsonError =>
  isErrorCode(code)
    ? new KeelsonError(code, parseErrorParams(detailsJson))
    : new KeelsonError('internal', {}, { cause: new Error(`unknown error code ${code}`) });
