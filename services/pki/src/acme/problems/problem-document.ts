/** Problem documents (RFC 8555 §6.7, RFC 7807). */
import type { JsonObject } from '@keelson/secrets-api';
import { type AcmeProblem, PROBLEM_STATUS, type Problem, type Subproblem } from './problem.ts';

const URN = 'urn:ietf:params:acme:error:';

const subproblemDocument = ({ type, detail, identifier }: Subproblem): JsonObject => ({
  type: URN + type,
  detail,
  ...(identifier !== undefined && {
    identifier: { type: identifier.type, value: identifier.value },
  }),
});

const problemDocument = (
  { type, detail, subproblems = [] }: Problem,
  status: number,
): JsonObject => ({
  type: URN + type,
  detail,
  status,
  ...(subproblems.length > 0 && { subproblems: subproblems.map(subproblemDocument) }),
});

export const refusalDocument = ({ type, message, status, extras }: AcmeProblem): JsonObject => ({
  ...problemDocument({ type, detail: message, subproblems: extras.subproblems }, status),
  ...(extras.algorithms !== undefined && { algorithms: extras.algorithms }),
  // RFC 8555 §7.3.3: a page that explains how to agree.
  ...(extras.terms !== undefined && { instance: extras.terms }),
});

/** The problem document shown in an order or a challenge. */
export const storedProblem = (problem: Problem | undefined): JsonObject =>
  problem === undefined ? {} : { error: problemDocument(problem, PROBLEM_STATUS[problem.type]) };
