/** Other names in requests and roles: `<oid>;UTF8:<value>` (reference §3.3). */

import { KeelsonError } from '@keelson/errors';
import { matchesGlob } from '@keelson/secrets-api/glob';
import { isObjectIdentifier } from '@keelson/x509';

export interface OtherName {
  readonly oid: string;
  readonly value: string;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` */
export const parseOtherName = (text: string): OtherName => {
  const semicolon = text.indexOf(';');
  const colon = text.indexOf(':', semicolon);
  const oid = text.slice(0, Math.max(semicolon, 0)).trim();
  if (semicolon < 0 || colon < 0 || !isObjectIdentifier(oid))
    return refuse(
      `could not parse requested other SAN: expected <oid>;UTF8:<value>, got "${text}"`,
    );
  const kind = text
    .slice(semicolon + 1, colon)
    .trim()
    .toLowerCase();
  if (kind !== 'utf8' && kind !== 'utf-8')
    return refuse(`only utf8 other SANs are supported; found non-supported type in other SAN list`);
  return { oid, value: text.slice(colon + 1) };
};

/**
 * Why no rule allows an other name; undefined if one does. A rule is `<oid>;UTF8:<glob>`; `*` alone
 * allows all.
 */
export const findOtherNameRefusal = (
  { oid, value }: OtherName,
  rules: readonly string[],
): string | undefined => {
  if (rules.includes('*')) return undefined;
  const allowed = rules.map(parseOtherName).filter((rule) => rule.oid === oid);
  if (allowed.length === 0) return `other SAN OID ${oid} not allowed by this role`;
  return allowed.some((rule) => matchesGlob(rule.value, value))
    ? undefined
    : `other SAN ${value} not allowed for OID ${oid} by this role`;
};
