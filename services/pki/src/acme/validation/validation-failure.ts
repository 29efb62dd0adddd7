/** Reasons why an attempt did not prove control. */

/** `type` follows "urn:ietf:params:acme:error:" (RFC 8555 §6.7). */
export interface ValidationProblem {
  readonly type: 'connection' | 'dns' | 'tls' | 'incorrectResponse' | 'rejectedIdentifier';
  readonly detail: string;
}

export class ValidationFailure extends Error {
  readonly kind: 'retry' | 'invalid';
  readonly problem: ValidationProblem;

  constructor(
    type: ValidationProblem['type'],
    detail: string,
    kind: 'retry' | 'invalid' = 'retry',
  ) {
    super(detail);
    this.kind = kind;
    this.problem = { type, detail };
  }
}

/** The code of a system, DNS or TLS error, such as "ECONNREFUSED". */
export const errorCode = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
};
