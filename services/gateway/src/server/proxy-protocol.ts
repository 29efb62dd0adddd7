/**
 * The PROXY protocol, version 2 (HAProxy, doc/proxy-protocol.txt §2.2): a header with which a proxy begins a
 * connection, to state the address of the client. Extensions (TLVs) are skipped.
 */
import type { Socket } from 'node:net';
import { SocketAddress } from 'node:net';
import { plainAddress } from '../limits/client-network.ts';
import { takeBytes } from './first-bytes.ts';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const FIXED_BYTES = 16;

/** Room for addresses and extensions; proxies send about a hundred bytes. */
const MOST_BYTES = 2048;

const LOCAL = 0x20;
const PROXY = 0x21;
/** Address family and transport, with the size of the addresses. */
const UNSPECIFIED = 0x00;
const FAMILIES: ReadonlyMap<number, { readonly family: 'ipv4' | 'ipv6'; readonly size: number }> =
  new Map([
    [0x11, { family: 'ipv4', size: 4 }],
    [0x21, { family: 'ipv6', size: 16 }],
  ]);

/** The client's address; undefined if the proxy speaks for itself. */
export type ProxyHeader = { readonly client: string | undefined } | { readonly fault: string };

const toAddress = (family: 'ipv4' | 'ipv6', bytes: Buffer): string => {
  if (family === 'ipv4') return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16));
  // In the canonical form, which token_bound_cidrs and the log use.
  return plainAddress(new SocketAddress({ family, address: groups.join(':') }).address);
};

/**
 * Reads the header, which is then no longer part of the connection.
 * @returns undefined if the connection ended first
 */
export const readProxyHeader = async (socket: Socket): Promise<ProxyHeader | undefined> => {
  const fixed = await takeBytes(socket, FIXED_BYTES);
  if (fixed === undefined) return undefined;
  if (!fixed.subarray(0, SIGNATURE.length).equals(SIGNATURE))
    return { fault: 'the connection does not begin with a PROXY protocol header of version 2' };
  const [command = 0, transport = 0] = fixed.subarray(SIGNATURE.length);
  const size = fixed.readUInt16BE(14);
  if (command !== LOCAL && command !== PROXY)
    return { fault: 'the version or command of the PROXY protocol header is not known' };
  if (size > MOST_BYTES)
    return { fault: `the PROXY protocol header has more than ${MOST_BYTES} bytes` };
  const rest = size === 0 ? Buffer.alloc(0) : await takeBytes(socket, size);
  if (rest === undefined) return undefined;
  // Health checks of the proxy itself, and clients whose address it does not know.
  if (command === LOCAL || transport === UNSPECIFIED) return { client: undefined };
  const known = FAMILIES.get(transport);
  if (known === undefined)
    return { fault: 'the PROXY protocol header does not state a TCP connection over IP' };
  // Both addresses and both ports.
  if (rest.length < 2 * known.size + 4)
    return { fault: 'the PROXY protocol header is shorter than its addresses' };
  return { client: toAddress(known.family, rest.subarray(0, known.size)) };
};
