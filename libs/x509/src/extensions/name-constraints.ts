/** Name constraints (RFC 5280 §4.2.1.10). */
import { KeelsonError } from '@keelson/errors';
import { contextTag, sequence } from '../der/der-types.ts';
import { constructed, type Der, primitive } from '../der/der-writer.ts';
import { generalName } from '../names/general-name.ts';
import { parseIpRange } from '../names/ip-address.ts';
import { EXTENSION, type Extension, extension } from './extension.ts';

export interface NameSubtrees {
  readonly dns?: readonly string[];
  readonly email?: readonly string[];
  readonly uri?: readonly string[];
  /** CIDR notation. */
  readonly ipRanges?: readonly string[];
}

const ipRange = (cidr: string): Der => {
  const octets = parseIpRange(cidr);
  if (octets === undefined)
    throw new KeelsonError('request.invalid', { text: `"${cidr}" is not an IP range` });
  return primitive(contextTag(7, 'primitive'), octets);
};

const subtrees = (number: number, trees: NameSubtrees): readonly Der[] => {
  const bases = [
    ...(trees.dns ?? []).map((value) => generalName({ kind: 'dns', value })),
    ...(trees.ipRanges ?? []).map(ipRange),
    ...(trees.email ?? []).map((value) => generalName({ kind: 'email', value })),
    ...(trees.uri ?? []).map((value) => generalName({ kind: 'uri', value })),
  ];
  // `minimum` is its default, 0, which DER omits.
  return bases.length === 0
    ? []
    : [
        constructed(
          contextTag(number, 'constructed'),
          bases.map((base) => sequence(base)),
        ),
      ];
};

/** Critical, as RFC 5280 §4.2.1.10 requires; undefined when nothing is constrained. */
export const nameConstraints = (
  permitted: NameSubtrees,
  excluded: NameSubtrees,
): Extension | undefined => {
  const parts = [...subtrees(0, permitted), ...subtrees(1, excluded)];
  return parts.length === 0
    ? undefined
    : extension(EXTENSION.nameConstraints, sequence(...parts), true);
};
