/**
 * The closed list of error codes, and the one error class that carries them.
 *
 * A code has the same meaning in every process. It crosses gRPC unchanged, and the service that answers
 * converts it once to a document for clients (one file per dialect). docs/errors.md lists all codes; a test
 * fails when list and page differ.
 */
import { EDGE_ERRORS } from './codes/edge.ts';
import { PKI_ERRORS } from './codes/pki.ts';
import { REPLICATION_ERRORS } from './codes/replication.ts';
import { STORAGE_ERRORS } from './codes/storage.ts';
import { SYS_ERRORS } from './codes/sys.ts';
import { WORKSPACE_ERRORS } from './codes/workspace.ts';

export { capabilityOf } from './capability.ts';
export type { ErrorMeaning, GrpcStatusName } from './error-meaning.ts';
export { countHandlerFaults, guarded, HandlerFault, handlerFaults } from './guarded.ts';
export { addUncaughtExceptions, countUncaughtExceptions } from './uncaught-exceptions.ts';
export { isUntrustedCertificate } from './untrusted-certificate.ts';

export const ERROR_CODES = {
  ...EDGE_ERRORS,
  ...STORAGE_ERRORS,
  ...REPLICATION_ERRORS,
  ...SYS_ERRORS,
  ...PKI_ERRORS,
  ...WORKSPACE_ERRORS,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Parameters of a code's text. Never a secret: they are sent to the client. */
export type ErrorParams = Readonly<Record<string, string | number>>;

/** `{name}` in a code's text is replaced by the parameter of that name. */
const messageOf = (code: ErrorCode, params: ErrorParams): string =>
  ERROR_CODES[code].message.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    name in params ? String(params[name]) : whole,
  );

/** An expected refusal. Its message is for the client; `cause` is logged and never sent. */
export class KeelsonError extends Error {
  override readonly name = 'KeelsonError';
  readonly code: ErrorCode;
  readonly params: ErrorParams;

  constructor(code: ErrorCode, params: ErrorParams = {}, options?: ErrorOptions) {
    super(messageOf(code, params), options);
    this.code = code;
    this.params = params;
  }

  /** HTTP status of the code. */
  get httpStatus(): number {
    return ERROR_CODES[this.code].http;
  }

  /** Whether the same request may succeed later. */
  get mayPass(): boolean {
    return ERROR_CODES[this.code].retry;
  }

  /** Converts anything caught to a KeelsonError: unknown values become `internal` with the value as cause. */
  static from(thrown: unknown): KeelsonError {
    return thrown instanceof KeelsonError
      ? thrown
      : new KeelsonError('internal', {}, { cause: thrown });
  }
}

/** True for a KeelsonError with one of these codes. */
export const hasCode = (thrown: unknown, ...codes: readonly ErrorCode[]): thrown is KeelsonError =>
  thrown instanceof KeelsonError && codes.includes(thrown.code);

/** Whether the seal of the replica that was asked is closed. It has not executed the request. */
export const isSealed = (thrown: unknown): thrown is KeelsonError =>
  hasCode(thrown, 'sys.sealed', 'storage.sealed');

/** Whether another replica may be able to answer: this one is sealed, or may not write to its store. */
export const mayPassElsewhere = (thrown: unknown): thrown is KeelsonError =>
  isSealed(thrown) || hasCode(thrown, 'storage.superseded');

/**
 * Whether a record cannot be read: it cannot be decrypted, has not the shape of its kind, or is of a newer
 * version. Such a record is left out of lists, and fails only what depends on it.
 */
export const isDamage = (thrown: unknown): boolean =>
  hasCode(
    thrown,
    'barrier.damaged_value',
    'barrier.unknown_term',
    'storage.damaged_record',
    'storage.newer_record',
  );
