/** Whether an address lies in one of the networks a token is bound to. */
import { BlockList, isIP } from 'node:net';

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

export const isInNetworks = (address: string, networks: readonly string[]): boolean => {
  const plain = address.replace(/^::ffff:/, '');
  if (isIP(plain) === 0) return false;
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    if (isIP(base) === 0) continue;
    if (bits === undefined) list.addAddress(base, familyOf(base));
    else list.addSubnet(base, Number(bits), familyOf(base));
  }
  return list.check(plain, familyOf(plain));
};
