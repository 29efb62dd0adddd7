import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

const split = (address: string): { host: string; port: string } => {
  const { hostname, port } = new URL(`tcp://${address}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port };
};

/**
 * Resolves "host:port" addresses to gRPC targets of one IP address each: a DNS name means all addresses to
 * which it resolves. Names that do not resolve at the moment are skipped.
 */
export const resolveReplicas = async (addresses: readonly string[]): Promise<readonly string[]> => {
  const targets = await Promise.all(
    addresses.map(async (address) => {
      const { host, port } = split(address);
      const found = await lookup(host, { all: true }).catch(() => []);
      return found.map((one) =>
        isIP(one.address) === 6 ? `ipv6:[${one.address}]:${port}` : `ipv4:${one.address}:${port}`,
      );
    }),
  );
  return [...new Set(targets.flat())];
};
