/** Key usages and extended key usages as requests name them. */
import { KeelsonError } from '@keelson/errors';
import { EXTENDED_KEY_USAGE, isObjectIdentifier, KEY_USAGES, type KeyUsage } from '@keelson/x509';

const withoutPrefix = (name: string, prefix: string): string =>
  name.toLowerCase().startsWith(prefix) ? name.slice(prefix.length) : name;

/** Usages by name, in any case, with or without their prefix; unknown names are omitted. */
export const toKeyUsages = (names: readonly string[]): readonly KeyUsage[] =>
  KEY_USAGES.filter((usage) =>
    names.some(
      (name) => withoutPrefix(name.trim(), 'keyusage').toLowerCase() === usage.toLowerCase(),
    ),
  );

const EXTENDED_BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENDED_KEY_USAGE).map(([name, oid]) => [name.toLowerCase(), oid]),
);

/** Object identifiers of extended usages by name; unknown names are omitted. */
export const toExtendedKeyUsageOids = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => {
    const oid = EXTENDED_BY_NAME.get(withoutPrefix(name.trim(), 'extkeyusage').toLowerCase());
    return oid === undefined ? [] : [oid];
  });

/**
 * The usages of `key_usage`, in the order of their bits.
 * @throws KeelsonError `request.invalid` for an unknown name: what it was meant to name would be missed only
 * in the certificate
 */
export const requireKeyUsages = (names: readonly string[]): readonly KeyUsage[] => {
  const unknown = names.find((name) => toKeyUsages([name]).length === 0);
  if (unknown !== undefined)
    throw new KeelsonError('request.invalid', {
      text: `key_usage: "${unknown}" is not a known key usage: ${KEY_USAGES.join(', ')}`,
    });
  return toKeyUsages(names);
};

/**
 * The object identifiers of `ext_key_usage` and `ext_key_usage_oids`, each once.
 * @throws KeelsonError `request.invalid` for an unknown name or a malformed identifier: a certificate without
 * any extended key usage is good for all of them
 */
export const requireExtendedKeyUsages = (
  names: readonly string[],
  oids: readonly string[],
): readonly string[] => {
  const unknown = names.find((name) => toExtendedKeyUsageOids([name]).length === 0);
  if (unknown !== undefined)
    throw new KeelsonError('request.invalid', {
      text: `ext_key_usage: "${unknown}" is not a known extended key usage: ${Object.keys(EXTENDED_KEY_USAGE).join(', ')}; others are given in ext_key_usage_oids`,
    });
  const malformed = oids.find((oid) => !isObjectIdentifier(oid));
  if (malformed !== undefined)
    throw new KeelsonError('request.invalid', {
      text: `ext_key_usage_oids: "${malformed}" is not an object identifier`,
    });
  return [...new Set([...toExtendedKeyUsageOids(names), ...oids])];
};
