/**
 * Decides which addresses a service may connect to when a user names the destination. Addresses that cannot
 * be web servers, and those where clouds serve the machine's credentials, are always refused by default;
 * private networks and loopback are refused or permitted depending on that user.
 */
import { isIP } from 'node:net';
import { createNetworks } from '@keelson/edge/networks';

export interface AddressPolicy {
  allows(address: string): boolean;
}

export interface AddressRanges {
  /** Addresses or CIDR ranges. If there are any, all other addresses are refused. */
  readonly permitted: readonly string[];
  /** Takes precedence over `permitted`. */
  readonly excluded: readonly string[];
}

/** Refused unless `permitted` names them. */
const EXCLUDED_BY_DEFAULT = [
  '0.0.0.0/8',
  '::/128',
  // Link-local, with the metadata service of most clouds at 169.254.169.254.
  '169.254.0.0/16',
  'fe80::/10',
  // The same services at other addresses.
  'fd00:ec2::/32',
  'fd20:ce::254',
  '100.100.100.200',
  '168.63.129.16',
  // Multicast, reserved, broadcast.
  '224.0.0.0/4',
  'ff00::/8',
  '240.0.0.0/4',
] as const;

/** Addresses that embed an IPv4 address and are translated to it (RFC 6052, 3056). */
const TRANSLATED = ['64:ff9b::/96', '64:ff9b:1::/48', '2002::/16'] as const;

/** Networks inside an organization, this machine, and ranges without a server (RFC 6890). */
const NOT_PUBLIC = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '::/96',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  'fc00::/7',
  'fec0::/10',
] as const;

const refusedByDefault = createNetworks([...EXCLUDED_BY_DEFAULT, ...TRANSLATED]);
const refusedToUsers = createNetworks([...EXCLUDED_BY_DEFAULT, ...TRANSLATED, ...NOT_PUBLIC]);

/**
 * For an internal authority, which validates servers in private networks and on loopback.
 * @throws KeelsonError `request.invalid` naming a malformed range
 */
export const createAddressPolicy = ({ permitted, excluded }: AddressRanges): AddressPolicy => {
  const allowed = createNetworks(permitted);
  const refused = createNetworks(excluded);
  return {
    allows: (address) => {
      if (isIP(address) === 0 || refused.includes(address)) return false;
      return permitted.length > 0 ? allowed.includes(address) : !refusedByDefault.includes(address);
    },
  };
};

/**
 * For destinations that users choose: public addresses, and those in the ranges that the operator adds.
 * @throws KeelsonError `request.invalid` naming a malformed range
 */
export const createPublicAddressPolicy = (added: readonly string[]): AddressPolicy => {
  const allowed = createNetworks(added);
  return {
    allows: (address) =>
      isIP(address) !== 0 && (allowed.includes(address) || !refusedToUsers.includes(address)),
  };
};
