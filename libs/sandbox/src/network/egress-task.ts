/** Input of the process that connects a sandbox to servers: one line of JSON on its standard input. */
import type { Endpoint } from './way.ts';

export interface EgressTask {
  /** Path of the socket to listen on. */
  readonly socket: string;
  /** Servers that are permitted whatever their address is. */
  readonly servers: readonly Endpoint[];
  /** Addresses or CIDR ranges that are permitted beyond the internet. */
  readonly ranges: readonly string[];
  /** Addresses, ranges and names of hosts: nothing else of all that is permitted, except the servers. */
  readonly only?: readonly string[] | undefined;
}
