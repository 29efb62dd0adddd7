/**
 * Connects one sandbox to servers, in a process without secrets, because it reads what strangers send. When its
 * standard input ends, whoever started it has ended, and the program in the sandbox has a while to store what it has.
 */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { handlerFaults } from '@keelson/errors';
import { createOutbound } from '@keelson/outbound';
import { createPublicAddressPolicy } from '@keelson/outbound/addresses';
import { type AddressLookup, openEgressProxy } from '@keelson/outbound/egress-proxy';
import { createAllowList } from './allow-list.ts';
import type { EgressTask } from './egress-task.ts';

const LEAVES_AFTER_MS = 120_000;

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase();

const toAddresses = ({ servers, ranges, only }: EgressTask): AddressLookup => {
  const allowed = only && createAllowList(only);
  const guarded = createOutbound({ policy: createPublicAddressPolicy(ranges), timeoutMs: 0 });
  return {
    addressesOf: async (host, port) => {
      const name = withoutBrackets(host);
      const isPermitted = servers.some(
        (server) => withoutBrackets(server.host) === name && server.port === port,
      );
      if (!isPermitted) {
        const addresses = await guarded.addressesOf(host);
        if (allowed === undefined || allowed.names(name)) return addresses;
        const listed = addresses.filter((address) => allowed.includes(address));
        if (listed.length === 0) throw new Error(`the allow-list of the agent pool lacks ${name}`);
        return listed;
      }
      return (await lookup(name, { all: true })).map(({ address }) => address);
    },
  };
};

// A fault costs its connection.
handlerFaults.subscribe(() => undefined);
process.umask(0o177);
const lines = createInterface({ input: process.stdin });
const ended = once(lines, 'close');
const [line] = (await once(lines, 'line')) as [string];
const task = JSON.parse(line) as EgressTask;
await openEgressProxy({
  addresses: toAddresses(task),
  socket: task.socket,
});
process.stdout.write('open\n');
await ended;
await pause(LEAVES_AFTER_MS);
process.exit(0);
