/** A certificate authority alone in a process: takes revocations by the million, makes their list. */
import { randomFillSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '@keelson/clock';
import { parseConfig } from '@keelson/config';
import { bufferedBody } from '@keelson/edge';
import { InProcessLeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import {
  composePki,
  PKI_PROJECTIONS,
  pkiConfigSchema,
  revocationRecords,
} from '@keelson/pki-service';
import { Dialect, type Mount } from '@keelson/proto/edge/v1/edge';
import { createBarrier, openBarrierFor, openSqliteStore } from '@keelson/storage';
import { toSerialKey } from '@keelson/x509';
import { answerCommands } from '../child-process.ts';

const NAMESPACE = { id: 'root', path: '' };
const MOUNT: Mount = {
  uuid: '8f0b1c1e-0000-4000-8000-000000000001',
  accessor: 'pki_1',
  type: 'pki',
  path: 'pki/',
  namespace: NAMESPACE,
  local: false,
  defaultLeaseTtlSeconds: 2_764_800,
  maxLeaseTtlSeconds: 315_360_000,
  passthroughRequestHeaders: [],
  allowedResponseHeaders: [],
  options: {},
  description: '',
};

const openAuthority = async (folder: string) => {
  const clock = systemClock;
  const barrier = createBarrier({ clock });
  const store = await openSqliteStore({
    file: join(folder, 'pki.sqlite'),
    barrier,
    clock,
    projections: PKI_PROJECTIONS,
  });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(1));
  const { edge } = composePki({
    config: parseConfig(pkiConfigSchema, {}),
    store,
    barrier,
    leases: new InProcessLeaseStore({ clock }),
    clock,
    logger: createLogger({ name: 'pki', level: 'silent' }),
    cluster: {
      join: () => {
        throw new Error('not started');
      },
    },
    ledger: { register: () => Promise.reject(new Error('no leases here')) },
  });
  const call = async (method: string, path: string, body: unknown = {}): Promise<Uint8Array> => {
    const answer = await edge.handle({
      head: {
        requestId: 'bench',
        method,
        path: `/${path}`,
        query: '',
        headers: { 'content-type': 'application/json' },
        dialect: Dialect.SPECIFICATION,
        remoteAddress: '127.0.0.1',
        baseUrl: 'http://localhost',
        traceparent: '',
        namespace: NAMESPACE,
        mount: MOUNT,
        caller: undefined,
        principal: undefined,
      },
      body: bufferedBody(method === 'POST' ? Buffer.from(JSON.stringify(body)) : Buffer.alloc(0)),
      signal: new AbortController().signal,
    });
    if (!(answer.body instanceof Uint8Array)) throw new Error('unexpected stream');
    if (answer.head.status !== 200)
      throw new Error(`${path}: ${Buffer.from(answer.body).toString()}`);
    return answer.body;
  };
  return { store, call };
};

const STEP = 2000;

const seed = async ({ folder, count }: { folder: string; count: number }): Promise<void> => {
  const { store, call } = await openAuthority(folder);
  const root = { common_name: 'Keelson Bench', key_type: 'ec', ttl: '87600h' };
  const made = JSON.parse(
    Buffer.from(await call('POST', 'root/generate/internal', root)).toString(),
  );
  await call('POST', 'config/crl', { max_crl_entries: -1 });
  const records = revocationRecords(MOUNT);
  const issuerId: string = made.data.issuer_id;
  const notAfterMs = Date.now() + 86_400_000;
  for (let written = 0; written < count; written += STEP)
    await store.transact((tx) => {
      for (let one = written; one < Math.min(count, written + STEP); one++)
        records.write(tx, toSerialKey(randomFillSync(new Uint8Array(19))), {
          revokedAtMs: Date.UTC(2026, 0, 1) + (one % 86_400) * 1000,
          issuerId,
          notAfterMs,
        });
    });
  await store.close();
};

/** Memory of the process without mapped pages of the database file, which the kernel takes back at will. */
const anonymousMegabytes = (): number =>
  Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;

export interface CrlMeasurement {
  readonly seconds: number;
  /** By the clock: includes that other processes had the core. */
  readonly longestBlockMilliseconds: number;
  /** CPU time of the thread between two turns of its event loop. */
  readonly longestWorkMilliseconds: number;
  readonly megabytesAboveIdle: number;
  readonly listMegabytes: number;
}

const SAMPLE_MILLISECONDS = 1;
const SAMPLES_PER_MEMORY_READING = 10;

/** Watches the event loop and the memory until it is told to stop. */
const watch = () => {
  const idleMegabytes = anonymousMegabytes();
  const delay = monitorEventLoopDelay({ resolution: SAMPLE_MILLISECONDS });
  let peakMegabytes = idleMegabytes;
  let longestWorkMilliseconds = 0;
  let samples = 0;
  let used = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(used);
    longestWorkMilliseconds = Math.max(longestWorkMilliseconds, (user + system) / 1000);
    if (samples++ % SAMPLES_PER_MEMORY_READING === 0)
      peakMegabytes = Math.max(peakMegabytes, anonymousMegabytes());
    used = process.threadCpuUsage();
  }, SAMPLE_MILLISECONDS);
  delay.enable();
  return () => {
    delay.disable();
    clearInterval(timer);
    return {
      longestBlockMilliseconds: delay.max / 1e6,
      longestWorkMilliseconds,
      megabytesAboveIdle: peakMegabytes - idleMegabytes,
    };
  };
};

const build = async ({ folder }: { folder: string }): Promise<CrlMeasurement> => {
  const { store, call } = await openAuthority(folder);
  await call('GET', 'ca');
  const stopWatching = watch();
  const startedAt = performance.now();
  await call('GET', 'crl/rotate');
  const seconds = (performance.now() - startedAt) / 1000;
  const watched = stopWatching();
  const list = await call('GET', 'crl');
  await store.close();
  return { seconds, ...watched, listMegabytes: list.byteLength / 1024 ** 2 };
};

answerCommands({ seed, build });
