/** Refusals of ACME requests (RFC 8555 §6.7, RFC 7807). The types are a closed list. */

import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** HTTP status by type; RFC 8555 leaves most of them open (docs/divergences/acme.md). */
export const PROBLEM_STATUS = {
  accountDoesNotExist: 400,
  alreadyReplaced: 409,
  alreadyRevoked: 400,
  badCSR: 400,
  badNonce: 400,
  badPublicKey: 400,
  badRevocationReason: 400,
  badSignatureAlgorithm: 400,
  caa: 403,
  compound: 400,
  connection: 400,
  dns: 400,
  externalAccountRequired: 403,
  incorrectResponse: 403,
  invalidContact: 400,
  invalidProfile: 400,
  malformed: 400,
  orderNotReady: 403,
  rateLimited: 429,
  rejectedIdentifier: 400,
  serverInternal: 500,
  tls: 400,
  unauthorized: 403,
  unsupportedContact: 400,
  unsupportedIdentifier: 400,
  userActionRequired: 403,
} as const;

export const problemTypeShape = Type.Enum(
  Object.keys(PROBLEM_STATUS) as (keyof typeof PROBLEM_STATUS)[],
);
export type ProblemType = Shaped<typeof problemTypeShape>;

export const subproblemShape = Type.Object({
  type: problemTypeShape,
  detail: Type.String(),
  identifier: Type.Optional(Type.Object({ type: Type.String(), value: Type.String() })),
});
export type Subproblem = Shaped<typeof subproblemShape>;

/** A problem as stored in an order or a challenge. */
export const problemShape = Type.Object({
  type: problemTypeShape,
  detail: Type.String(),
  /** RFC 8555 §6.7.1: one for each refused identifier. */
  subproblems: Type.Optional(Type.Array(subproblemShape)),
});
export type Problem = Shaped<typeof problemShape>;

export interface ProblemExtras {
  /** Overrides the status of the type: 404, 405, 415, 409. */
  readonly status?: number;
  readonly subproblems?: readonly Subproblem[];
  /** RFC 8555 §6.2: the algorithms that would have been accepted. */
  readonly algorithms?: readonly string[];
  /** URL of the account that already has the key (RFC 8555 §7.3.5). */
  readonly location?: string;
  readonly retryAfterSeconds?: number;
  /** RFC 9110 §15.5.6: the methods of the resource, in a refusal of another method. */
  readonly allow?: string;
  /** URL of the terms of service to be agreed to (RFC 8555 §7.3.3). */
  readonly terms?: string;
  readonly cause?: unknown;
}

/** A refusal of an ACME request. Its detail is meant for the client. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem';
  readonly type: ProblemType;
  readonly status: number;
  readonly extras: ProblemExtras;

  constructor(type: ProblemType, detail: string, extras: ProblemExtras = {}) {
    super(detail, { cause: extras.cause });
    this.type = type;
    this.status = extras.status ?? PROBLEM_STATUS[type];
    this.extras = extras;
  }
}

export const malformed = (detail: string, extras?: ProblemExtras): AcmeProblem =>
  new AcmeProblem('malformed', detail, extras);

/**
 * Combines several problems into one: a single problem is returned unchanged; several become
 * subproblems of their common type, or of `compound` if their types differ (RFC 8555 §6.7.1).
 */
export const combineProblems = (found: readonly [Subproblem, ...Subproblem[]]): AcmeProblem => {
  const [first] = found;
  if (found.length === 1) return new AcmeProblem(first.type, first.detail, { subproblems: found });
  const isSameType = found.every(({ type }) => type === first.type);
  return new AcmeProblem(
    isSameType ? first.type : 'compound',
    'several identifiers were refused; see the subproblems',
    { subproblems: found },
  );
};
