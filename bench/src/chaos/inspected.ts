/**
 * Inspects a running process through Node's inspector, so that the tested process needs no interface for it:
 * memory that is live after a collection, and the resources that keep its event loop alive.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { KeelsonProcess } from '@keelson/testkit';

/** Environment of a process that can be inspected, on a port that the system chooses. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

const MEGABYTE = 1024 ** 2;
const POLL_MS = 10;
const EXPRESSION =
  'JSON.stringify({ memory: process.memoryUsage(), resources: process.getActiveResourcesInfo() })';

export interface Sight {
  /** Heap and external memory of the main thread after a collection, in MB. */
  readonly liveMegabytes: number;
  /** Memory of the process that is not backed by a file, in MB. */
  readonly anonymousMegabytes: number;
  readonly openFiles: number;
  readonly threads: number;
  /** Active resources of the event loop by kind: timers, sockets, requests. */
  readonly resources: ReadonlyMap<string, number>;
}

export interface Inspector {
  look(): Promise<Sight>;
  close(): void;
}

interface Reply {
  readonly id: number;
  readonly result: { readonly result?: { readonly value?: string } };
}

const countKinds = (kinds: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
};

const fromStatus = (status: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN);

/** Printed first, but on the other stream, so that it may be read later. */
const addressOf = async (process: KeelsonProcess): Promise<string> => {
  for (;;) {
    const address = /Debugger listening on (ws:\S+)/.exec(process.output())?.[1];
    if (address !== undefined) return address;
    await delay(POLL_MS);
  }
};

/** @param process started with `INSPECTED` */
export const inspect = async (process: KeelsonProcess): Promise<Inspector> => {
  const socket = new WebSocket(await addressOf(process));
  await once(socket, 'open');
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  let lastId = 0;
  const ask = (method: string, params: object = {}): Promise<Reply> =>
    new Promise((resolve) => {
      const id = ++lastId;
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  return {
    look: async () => {
      await ask('HeapProfiler.collectGarbage');
      const { result } = await ask('Runtime.evaluate', { expression: EXPRESSION });
      const { memory, resources } = JSON.parse(result.result?.value ?? '') as {
        readonly memory: NodeJS.MemoryUsage;
        readonly resources: readonly string[];
      };
      const status = readFileSync(`/proc/${process.pid}/status`, 'utf8');
      return {
        liveMegabytes: (memory.heapUsed + memory.external) / MEGABYTE,
        anonymousMegabytes: fromStatus(status, 'RssAnon') / 1024,
        openFiles: readdirSync(`/proc/${process.pid}/fd`).length,
        threads: fromStatus(status, 'Threads'),
        resources: countKinds(resources),
      };
    },
    close: () => socket.close(),
  };
};
