/** How a sandbox without a network reaches servers: the part that both sides know. */

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Input of `openWays`. */
export interface Way {
  /** Socket of the egress, at its path in the sandbox. */
  readonly socket: string;
  /** Port on the loopback interface of the sandbox at which the proxy is reached. */
  readonly proxyPort: number;
  /** Servers on the loopback interface of the machine that appear on that of the sandbox, at the same port. */
  readonly forwarded: readonly Endpoint[];
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

export const isOnLoopback = ({ host }: Endpoint): boolean => LOOPBACK.test(host);

/** "localhost:8443" as the endpoint of a request; the default is the port of its scheme. */
export const toAuthority = ({ host, port }: Endpoint): string => `${host}:${port}`;

const FIRST_PORT = 3128;

/** A port that none of the forwarded servers has. */
export const choosePort = (forwarded: readonly Endpoint[]): number => {
  const taken = new Set(forwarded.map(({ port }) => port));
  let port = FIRST_PORT;
  while (taken.has(port)) port += 1;
  return port;
};
