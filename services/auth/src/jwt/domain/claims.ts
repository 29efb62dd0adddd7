/** The claims of a verified token, compared with what a role demands. */

import { KeelsonError } from '@keelson/errors';
import { matchesGlob } from '@keelson/secrets-api/glob';
import { type Claims, findClaim, memberOf } from '../../providers/domain/claims.ts';
import type { JwtRole } from './jwt-role.ts';

/** Longest name of a user, which each list of tokens shows. */
const MAX_USER_NAME_LENGTH = 1024;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** One of the values must be one of the bound ones. @throws KeelsonError `request.invalid` */
export const requireBoundClaims = (
  { boundClaims, boundClaimsType }: Pick<JwtRole, 'boundClaims' | 'boundClaimsType'>,
  claims: Claims,
): void => {
  for (const [claim, bound] of Object.entries(boundClaims)) {
    const received = findClaim(claims, claim);
    if (received === undefined) refuse(`error validating claims: claim "${claim}" is missing`);
    const values = [received].flat();
    if (!values.every(isScalar))
      refuse(`error validating claims: claim "${claim}" is not a string or list`);
    const isBound = [bound]
      .flat()
      .some((expected) =>
        values.some((value) =>
          boundClaimsType === 'glob'
            ? typeof value === 'string' && matchesGlob(String(expected), value)
            : value === expected,
        ),
      );
    if (!isBound)
      refuse(
        `error validating claims: claim "${claim}" does not match any associated bound claim values`,
      );
  }
};

/** `aud`, `sub` and `iss`. @param issuer "" for any; @throws KeelsonError `request.invalid` */
export const requireBoundToken = (
  { boundAudiences, boundSubject }: Pick<JwtRole, 'boundAudiences' | 'boundSubject'>,
  issuer: string,
  claims: Claims,
): void => {
  if (issuer !== '' && memberOf(claims, 'iss') !== issuer)
    refuse('error validating token: invalid issuer (iss) claim');
  if (boundSubject !== '' && memberOf(claims, 'sub') !== boundSubject)
    refuse('error validating token: invalid subject (sub) claim');
  const audiences = [memberOf(claims, 'aud') ?? []].flat();
  if (boundAudiences.length === 0) {
    // The token is meant for somebody else.
    if (audiences.length > 0)
      refuse('audience claim found in JWT but no audiences bound to the role');
  } else if (!boundAudiences.some((audience) => audiences.includes(audience)))
    refuse(
      'error validating token: invalid audience (aud) claim: audience claim does not match any bound audience',
    );
};

/**
 * Every run of the installation has a token, those of other organizations as well: a role says whose it accepts.
 * @throws KeelsonError `request.invalid`
 */
export const requireBoundRun = ({
  boundSubject,
  boundClaims,
}: Pick<JwtRole, 'boundSubject' | 'boundClaims'>): void => {
  const names = Object.keys(boundClaims);
  if (boundSubject === '' && !names.some((name) => name === 'sub' || name.startsWith('terraform_')))
    refuse(
      'the role accepts the runs of every organization: bound_subject or bound_claims must name "sub" or a claim that begins with "terraform_"',
    );
};

/** The phase of the run whose token it is, for the renewal of the login. */
export const phaseIn = (claims: Claims) => ({
  run_id: String(memberOf(claims, 'terraform_run_id')),
  run_phase: String(memberOf(claims, 'terraform_run_phase')),
});

/** @throws KeelsonError `request.invalid` when the token does not name its user */
export const userNameOf = (
  { userClaim, userClaimJsonPointer }: Pick<JwtRole, 'userClaim' | 'userClaimJsonPointer'>,
  claims: Claims,
): string => {
  const name = userClaimJsonPointer ? findClaim(claims, userClaim) : memberOf(claims, userClaim);
  if (name === undefined || name === null) return refuse(`claim "${userClaim}" not found in token`);
  if (typeof name !== 'string')
    return refuse(`claim "${userClaim}" could not be converted to string`);
  return name.length > MAX_USER_NAME_LENGTH
    ? refuse(`claim "${userClaim}" has more than ${MAX_USER_NAME_LENGTH} characters`)
    : name;
};

/** The metadata of the login's token: claims that the token does not have are left out. */
export const mappedMetadata = (
  { claimMappings }: Pick<JwtRole, 'claimMappings'>,
  claims: Claims,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(claimMappings).flatMap(([claim, key]) => {
      const value = findClaim(claims, claim);
      if (value === undefined) return [];
      return isScalar(value)
        ? [[key, String(value)] as const]
        : refuse(`error converting claim "${claim}" to string`);
    }),
  );

/**
 * The groups that the token names, if its role expects any.
 * @throws KeelsonError `request.invalid` when the token does not have the groups that the role expects
 */
export const groupsIn = (
  { groupsClaim }: Pick<JwtRole, 'groupsClaim'>,
  claims: Claims,
): readonly string[] => {
  if (groupsClaim === '') return [];
  const groups = findClaim(claims, groupsClaim);
  if (groups === undefined) return refuse(`"${groupsClaim}" claim not found in token`);
  const names: readonly unknown[] = [groups].flat();
  return names.every((name) => typeof name === 'string')
    ? names
    : refuse(`"${groupsClaim}" claim could not be converted to string list`);
};
