/**
 * Sets of addresses from settings and roles. A separate entry point of the package, because worker threads
 * load it too.
 */
import { BlockList, isIP } from 'node:net';
import { KeelsonError } from '@keelson/errors';

export interface Networks {
  /**
   * Also true for an IPv4 address in its IPv6 form (::ffff:a.b.c.d); false for text that is not an address.
   */
  includes(address: string): boolean;
}

interface Block {
  readonly address: string;
  readonly prefix: number;
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** @throws KeelsonError `request.invalid` for a text that is neither an IP address nor a network in CIDR notation */
const parseBlock = (range: string): Block => {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(range) ?? [];
  const width = isIP(address) === 6 ? 128 : 32;
  const prefix = bits === undefined ? width : Number(bits);
  if (isIP(address) === 0 || prefix > width)
    throw new KeelsonError('request.invalid', { text: `invalid CIDR or IP address: "${range}"` });
  return { address, prefix };
};

/** The bits that all addresses of a block begin with, as text; an IPv4 address in its IPv6 form (::ffff:a.b.c.d). */
const commonBits = (range: string): string => {
  const { address, prefix } = parseBlock(range);
  const isV6 = isIP(address) === 6;
  const form = isV6 ? address.replace(/%.*/, '') : `::ffff:${address}`;
  const [head = [], tail = []] = new URL(`http://[${form}]/`).hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail]
    .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0'))
    .join('')
    .slice(0, isV6 ? prefix : 96 + prefix);
};

/** The ranges each of which is inside of one of the others. */
const rangesWithin = (ranges: readonly string[], others: readonly string[]): readonly string[] => {
  const outer = others.map(commonBits);
  return ranges.filter((range) => {
    const bits = commonBits(range);
    return outer.some((begin) => bits.startsWith(begin));
  });
};

/**
 * Whether each range is inside of one of the others.
 * @throws KeelsonError `request.invalid` naming a text that is no range
 */
export const areNetworksWithin = (ranges: readonly string[], others: readonly string[]): boolean =>
  rangesWithin(ranges, others).length === ranges.length;

/**
 * Ranges with the addresses that are in both lists: two blocks are nested or have no address in common, so that these
 * are the narrower ones.
 */
const commonNetworks = (left: readonly string[], right: readonly string[]): readonly string[] => [
  ...new Set([...rangesWithin(left, right), ...rangesWithin(right, left)]),
];

/**
 * The networks to which two lists bind somebody together; an empty list binds nobody.
 * @throws KeelsonError `sys.permission_denied` where the two have no address in common; `request.invalid` naming a text
 *   that is no range
 */
export const boundByBoth = (
  left: readonly string[],
  right: readonly string[],
): readonly string[] => {
  if (left.length === 0 || right.length === 0) return left.length === 0 ? right : left;
  const common = commonNetworks(left, right);
  if (common.length === 0) throw new KeelsonError('sys.permission_denied');
  return common;
};

/**
 * @param ranges IP addresses, or networks in CIDR notation
 * @throws KeelsonError `request.invalid` naming a range that is neither
 */
export const createNetworks = (ranges: readonly string[]): Networks => {
  const list = new BlockList();
  for (const range of ranges) {
    const { address, prefix } = parseBlock(range);
    list.addSubnet(address, prefix, familyOf(address));
  }
  return {
    includes: (address) => isIP(address) !== 0 && list.check(address, familyOf(address)),
  };
};
