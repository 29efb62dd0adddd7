/**
 * A KeelsonError in transit: its code and parameters, from which the receiver rebuilds the same error. Causes
 * and stacks remain in the process that created them.
 */
import { ERROR_CODES, type ErrorCode, type ErrorParams, KeelsonError } from '@keelson/errors';

export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  /** JSON object of the error's parameters. */
  readonly detailsJson: string;
}

/** Converts any thrown value to the error that is sent; unknown values become `internal`. */
export const toWireError = (thrown: unknown): WireError => {
  const { code, message, params } = KeelsonError.from(thrown);
  return { code, message, detailsJson: JSON.stringify(params) };
};

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code);

/** The parameters of an error, dropping anything that a Keelson peer would not send. */
export const parseErrorParams = (detailsJson: string): ErrorParams => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(detailsJson === '' ? '{}' : detailsJson);
  } catch {
    return {}; // The code alone still describes the error; its text is readable without parameters.
  }
  if (typeof parsed !== 'object' || parsed === null) return {};
  return Object.fromEntries(
    Object.entries(parsed).filter(
      (entry): entry is [string, string | number] =>
        typeof entry[1] === 'string' || typeof entry[1] === 'number',
    ),
  );
};

/**
 * The error that a peer sent. An unknown code, as from a newer version, becomes `internal` with the code in
 * its cause.
 */
export const fromWireError = (code: string, detailsJson: string): KeelsonError =>
  isErrorCode(code)
    ? new KeelsonError(code, parseErrorParams(detailsJson))
    : new KeelsonError('internal', {}, { cause: new Error(`unknown error code ${code}`) });
