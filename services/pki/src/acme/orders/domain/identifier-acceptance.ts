/** Identifiers for which no certificate could be issued, found before the client proves them (RFC 8555 §7.4). */
import { hasCode } from '@keelson/errors';
import { type Extension, encodeName, subjectAltName } from '@keelson/x509';
import { type ChainRules, checkChain } from '../../../issuers/domain/chain-check.ts';
import { decideNames } from '../../../issuing/domain/requested-names.ts';
import { STRICT_NAMES } from '../../../names/domain/alternative-names.ts';
import type { Role } from '../../../roles/domain/role.ts';
import { combineProblems, type Subproblem } from '../../problems/problem.ts';
import type { Identifier } from './identifier.ts';

const NO_NAMES = {
  commonName: '',
  altNames: [],
  ipSans: [],
  uriSans: [],
  otherSans: [],
  serialNumber: '',
  userIds: [],
  excludeCnFromSans: true,
  rules: STRICT_NAMES,
};

/** The refusal that an attempt throws; undefined if it succeeds. */
const refusalBy = (attempt: () => void): string | undefined => {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (!hasCode(error, 'request.invalid')) throw error;
    return error.message;
  }
};

const refusalUnder = (role: Role, { type, value }: Identifier): string | undefined =>
  refusalBy(() => {
    const names = type === 'dns' ? { altNames: [value] } : { ipSans: [value] };
    decideNames({ ...role, requireCn: false }, { ...NO_NAMES, ...names }, undefined);
  });

const refusalByChain = (
  rules: ChainRules,
  identifiers: readonly Identifier[],
): string | undefined => {
  const names = identifiers.map(({ type: kind, value }) => ({ kind, value }));
  const extensions: readonly Extension[] = names.length > 0 ? [subjectAltName(names, true)] : [];
  return refusalBy(() => checkChain(rules, { subject: encodeName([]), extensions }));
};

/**
 * Refusals by the name constraints above the issuer. A chain that refuses every certificate says nothing about
 * the identifiers. Several that no path permits together are all refused.
 */
const refusalsByChain = (
  rules: ChainRules,
  identifiers: readonly Identifier[],
): readonly (string | undefined)[] => {
  const together = refusalByChain(rules, identifiers);
  if (together === undefined || refusalByChain(rules, []) !== undefined) return [];
  const alone = identifiers.map((one) => refusalByChain(rules, [one]));
  return alone.some((refusal) => refusal !== undefined) ? alone : identifiers.map(() => together);
};

export interface IdentifierRules {
  readonly role: Role;
  /** Rules of the issuer and those above it. */
  readonly chain: ChainRules;
}

/**
 * @throws AcmeProblem `rejectedIdentifier` with one subproblem for each identifier that the role or the name
 * constraints of the issuer do not allow
 */
export const checkIdentifiers = (
  { role, chain }: IdentifierRules,
  identifiers: readonly Identifier[],
): void => {
  const byChain = refusalsByChain(chain, identifiers);
  const refused = identifiers.flatMap((identifier, index): Subproblem[] => {
    const detail = refusalUnder(role, identifier) ?? byChain[index];
    return detail === undefined ? [] : [{ type: 'rejectedIdentifier', detail, identifier }];
  });
  const [first, ...others] = refused;
  if (first !== undefined) throw combineProblems([first, ...others]);
};
