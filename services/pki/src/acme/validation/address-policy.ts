/**
 * Which addresses validation may connect to. Private networks and loopback are what an internal authority
 * validates, so they are allowed; never-a-web-server addresses and those at which clouds hand out the
 * machine's credentials are not.
 */
import { isIP } from 'node:net';
import { createNetworks } from '@keelson/edge/networks';

export interface AddressPolicy {
  allows(address: string): boolean;
}

export interface AddressRanges {
  /** Addresses or CIDR ranges. When there are any, all others are refused. */
  readonly permitted: readonly string[];
  /** Wins over `permitted`. */
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

/** Addresses that hold an IPv4 address which would be connected to in the end (RFC 6052, 3056). */
const TRANSLATED = ['64:ff9b::/96', '64:ff9b:1::/48', '2002::/16'] as const;

const refusedByDefault = createNetworks([...EXCLUDED_BY_DEFAULT, ...TRANSLATED]);

/** @throws KeelsonError `request.invalid` naming a range that is none */
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
