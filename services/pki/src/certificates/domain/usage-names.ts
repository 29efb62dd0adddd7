/** Key usages and extended key usages as requests name them. */
import { EXTENDED_KEY_USAGE, KEY_USAGES, type KeyUsage } from '@keelson/x509';

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

/** Warnings about names that no usage has: a misspelt one would otherwise be missed in the certificate only. */
export const usageWarnings = (
  keyUsages: readonly string[],
  extendedKeyUsages: readonly string[] = [],
): readonly string[] => [
  ...keyUsages
    .filter((name) => toKeyUsages([name]).length === 0)
    .map((name) => `the key usage "${name}" is unknown and has no effect`),
  ...extendedKeyUsages
    .filter((name) => toExtendedKeyUsageOids([name]).length === 0)
    .map((name) => `the extended key usage "${name}" is unknown and has no effect`),
];
