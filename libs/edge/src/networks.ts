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

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * @param ranges IP addresses, or networks in CIDR notation
 * @throws KeelsonError `request.invalid` naming a range that is neither
 */
export const createNetworks = (ranges: readonly string[]): Networks => {
  const list = new BlockList();
  for (const range of ranges) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(range) ?? [];
    const width = isIP(address) === 6 ? 128 : 32;
    const prefix = bits === undefined ? width : Number(bits);
    if (isIP(address) === 0 || prefix > width)
      throw new KeelsonError('request.invalid', { text: `invalid CIDR or IP address: "${range}"` });
    list.addSubnet(address, prefix, familyOf(address));
  }
  return {
    includes: (address) => isIP(address) !== 0 && list.check(address, familyOf(address)),
  };
};
