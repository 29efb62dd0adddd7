/**
 * Connects to one of the addresses of a name. The connection goes to the very address that was
 * checked, so that a second DNS answer cannot replace it.
 */

import { isIP } from 'node:net';
import { createAddressPolicy } from '@keelson/outbound/addresses';
import { type ValidationSettings } from './challenge-attempt.ts';
import { errorCode, ValidationFailure } from './validation-failure.ts';

/** Limits the number of hosts to which one name can direct the service. */
const MAX_ADDRESSES = 3;

/** Thrown by `connect` when no connection was established, so that the next address is tried. */
export class NotConnected extends Error {}

/** "host:port" as errors show it. */
export const endpoint = (host: string, port: number): string =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;

/** The first IPv6 address, then IPv4 ones, then further IPv6 ones. */
const inOrder = (addresses: readonly string[]): readonly string[] => {
  const [first, ...others] = addresses.filter((address) => isIP(address) === 6);
  const ipv4 = addresses.filter((address) => isIP(address) === 4);
  return [...(first === undefined ? [] : [first]), ...ipv4, ...others].slice(0, MAX_ADDRESSES);
};

/**
 * Connects to the addresses in turn until one accepts.
 * @throws ValidationFailure `rejectedIdentifier` when the address policy permits none, `connection`
 * when none accepts
 */
export const connectToPermitted = async <T>(
  { name, addresses, port }: { name: string; addresses: readonly string[]; port: number },
  { addressRanges }: ValidationSettings,
  signal: AbortSignal,
  connect: (address: string) => Promise<T>,
): Promise<T> => {
  const policy = createAddressPolicy(addressRanges);
  const permitted = addresses.filter((address) => policy.allows(address));
  if (permitted.length === 0)
    throw new ValidationFailure(
      'rejectedIdentifier',
      `the address policy permits no address of ${name}`,
      'invalid',
    );
  const refusals: string[] = [];
  for (const address of inOrder(permitted))
    try {
      return await connect(address);
    } catch (error) {
      if (!(error instanceof NotConnected)) throw error;
      signal.throwIfAborted();
      refusals.push(`${endpoint(address, port)}: ${errorCode(error.cause)}`);
    }
  throw new ValidationFailure('connection', `connecting to ${name}: ${refusals.join(', ')}`);
};
