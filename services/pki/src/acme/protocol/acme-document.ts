/** Documents of RFC 8555 §7.1. */
import { formatTime } from '../../issuing/domain/lifetime.ts';
import type { Account } from '../domain/account.ts';
import type { DirectoryUrls } from '../domain/directory.ts';
import {
  type Authorization,
  authorizationStatus,
  type Challenge,
  type Order,
  orderError,
  orderStatus,
} from '../domain/order.ts';
import {
  type AcmeProblem,
  PROBLEM_STATUS,
  type Problem,
  type Subproblem,
} from '../domain/problem.ts';

type JsonObject = Readonly<Record<string, unknown>>;

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
  // RFC 8555 §7.3.3: where a person is told how to agree.
  ...(extras.terms !== undefined && { instance: extras.terms }),
});

const keptProblem = (problem: Problem | undefined): JsonObject =>
  problem === undefined ? {} : { error: problemDocument(problem, PROBLEM_STATUS[problem.type]) };

export interface DirectoryMeta {
  readonly externalAccountRequired: boolean;
  /** Names of roles. */
  readonly profiles: readonly string[];
  /** URL; undefined: there are none. */
  readonly termsOfService: string | undefined;
}

/** RFC 8555 §7.1.1, RFC 9773 §4.1, draft-ietf-acme-profiles §3. */
export const directoryDocument = (
  { base }: DirectoryUrls,
  { externalAccountRequired, profiles, termsOfService }: DirectoryMeta,
): JsonObject => ({
  newNonce: `${base}new-nonce`,
  newAccount: `${base}new-account`,
  newOrder: `${base}new-order`,
  revokeCert: `${base}revoke-cert`,
  keyChange: `${base}key-change`,
  renewalInfo: `${base}renewal-info`,
  meta: {
    externalAccountRequired,
    ...(termsOfService !== undefined && { termsOfService }),
    ...(profiles.length > 0 && {
      profiles: Object.fromEntries(
        profiles.map((name) => [name, `What the role "${name}" issues.`]),
      ),
    }),
  },
});

export const accountDocument = (urls: DirectoryUrls, id: string, account: Account): JsonObject => ({
  status: account.status,
  contact: account.contacts,
  termsOfServiceAgreed: account.termsAgreed,
  orders: urls.orders(id),
  ...(account.binding !== undefined && { externalAccountBinding: account.binding.presented }),
});

export const orderDocument = (
  urls: DirectoryUrls,
  id: string,
  order: Order,
  nowMs: number,
): JsonObject => {
  const status = orderStatus(order, nowMs);
  return {
    status,
    expires: formatTime(order.expiresAtMs),
    identifiers: order.identifiers,
    ...(order.notBeforeMs !== undefined && { notBefore: formatTime(order.notBeforeMs) }),
    ...(order.notAfterMs !== undefined && { notAfter: formatTime(order.notAfterMs) }),
    ...(order.profile !== undefined && { profile: order.profile }),
    ...(order.replaces !== undefined && { replaces: order.replaces }),
    ...(status === 'invalid' && keptProblem(orderError(order))),
    authorizations: order.authorizations.map((_, index) => urls.authorization(id, index)),
    finalize: urls.finalize(id),
    ...(status === 'valid' && { certificate: urls.certificate(id, 0) }),
  };
};

/** Where an authorization is: its order and its place there. */
export interface AuthorizationPlace {
  readonly orderId: string;
  readonly index: number;
}

export const challengeDocument = (
  urls: DirectoryUrls,
  { orderId, index }: AuthorizationPlace,
  { type, status, token, validatedAtMs, error }: Challenge,
): JsonObject => ({
  type,
  url: urls.challenge(orderId, index, type),
  status,
  token,
  ...(validatedAtMs !== undefined && { validated: formatTime(validatedAtMs) }),
  ...keptProblem(error),
});

/** RFC 8555 §7.1.4: all that may be tried, or the one that decided. */
const shownChallenges = ({ status, challenges }: Authorization): readonly Challenge[] => {
  if (status === 'valid') return challenges.filter((one) => one.status === 'valid');
  if (status === 'invalid') return challenges.filter((one) => one.status === 'invalid');
  return challenges;
};

export const authorizationDocument = (
  urls: DirectoryUrls,
  place: AuthorizationPlace,
  authorization: Authorization,
  nowMs: number,
): JsonObject => ({
  identifier: authorization.identifier,
  status: authorizationStatus(authorization, nowMs),
  expires: formatTime(authorization.expiresAtMs),
  ...(authorization.wildcard && { wildcard: true }),
  challenges: shownChallenges(authorization).map((one) => challengeDocument(urls, place, one)),
});
