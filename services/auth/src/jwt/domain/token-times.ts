/** Whether a token is good at a time: its claims exp, nbf and iat (RFC 7519 §4.1), each with a leeway. */
import { KeelsonError } from '@keelson/errors';
import type { Claims } from '../../providers/domain/claims.ts';
import type { JwtRole } from './jwt-role.ts';

const DEFAULT_CLOCK_SKEW_SECONDS = 60;
/** Distance of a time that a token does not name from the one that it names. */
const DEFAULT_LEEWAY_SECONDS = 150;

type Leeways = Pick<
  JwtRole,
  'expirationLeewaySeconds' | 'notBeforeLeewaySeconds' | 'clockSkewLeewaySeconds'
>;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text: `error validating token: ${text}` });
};

const leeway = (seconds: number, byDefault: number): number =>
  seconds === 0 ? byDefault : Math.max(seconds, 0);

/** Seconds since the epoch; undefined if the token does not have the claim. */
const readTime = (claims: Claims, name: 'exp' | 'nbf' | 'iat'): number | undefined => {
  if (!Object.hasOwn(claims, name)) return undefined;
  const value = claims[name];
  return typeof value === 'number' && Number.isFinite(value)
    ? value
    : refuse(`invalid ${name} claim: it must be a number of seconds`);
};

/** @throws KeelsonError `request.invalid` for a token that has expired, is not valid yet, or names no time at all */
export const requireCurrent = (claims: Claims, leeways: Leeways, nowMs: number): void => {
  const issuedAt = readTime(claims, 'iat');
  const notBefore = readTime(claims, 'nbf');
  const start = Math.max(issuedAt ?? -Infinity, notBefore ?? -Infinity);
  const expiry =
    readTime(claims, 'exp') ??
    start + leeway(leeways.expirationLeewaySeconds, DEFAULT_LEEWAY_SECONDS);
  if (expiry === -Infinity)
    refuse('no issued at (iat), not before (nbf), or expiration time (exp) claims in token');
  const begin =
    notBefore ??
    issuedAt ??
    expiry - leeway(leeways.notBeforeLeewaySeconds, DEFAULT_LEEWAY_SECONDS);
  const skew = leeway(leeways.clockSkewLeewaySeconds, DEFAULT_CLOCK_SKEW_SECONDS);
  const now = nowMs / 1000;
  if (now - skew > expiry) refuse('invalid expiration time (exp) claim: token is expired');
  if (now + skew < begin) refuse('invalid not before (nbf) claim: token not yet valid');
  if (issuedAt !== undefined && now + skew < issuedAt)
    refuse('invalid issued at (iat) claim: token issued in the future');
};
