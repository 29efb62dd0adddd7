/**
 * The threads that serve clients in addition to the first one, which starts them. Each is a replica of the services and
 * the gateway on the stores that the first one has open, and listens on its ports. If one ends unexpectedly, the process
 * ends: it was in an unknown state, and what it had acknowledged is on disk.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import {
  type CertificateSource,
  createThreadCounts,
  type EdgePorts,
  type Gateway,
  type SiblingGateways,
} from '@keelson/gateway-service';
import type { InProcessLeaseRecords } from '@keelson/locks';
import { openWriterPort } from '@keelson/storage';
import {
  type FirstThreadCalls,
  type Question,
  type ServingThreadCalls,
  siblingsBy,
  type ThreadPlan,
} from './thread-calls.ts';
import { ThreadPort } from './thread-port.ts';

export interface ServingThreadsOptions {
  readonly plan: Omit<ThreadPlan, 'writer' | 'certificate'>;
  readonly leases: InProcessLeaseRecords;
  readonly tls: CertificateSource;
}

interface ServingThread {
  readonly worker: Worker;
  readonly port: ThreadPort<ServingThreadCalls>;
}

export class ServingThreads {
  readonly siblings: SiblingGateways;
  readonly #options: ServingThreadsOptions;
  readonly #counts = createThreadCounts();
  readonly #threads: ServingThread[] = [];
  #endRenewal: () => void = () => undefined;
  readonly #failed = Promise.withResolvers<never>();
  #state: 'starting' | 'serving' | 'stopping' = 'starting';
  #gateway: Gateway | undefined;

  constructor(options: ServingThreadsOptions) {
    this.#options = options;
    this.siblings = siblingsBy(options.plan.threads, this.#counts.counting, (question) =>
      this.#askAll(question, undefined),
    );
  }

  /** Starts the threads, and resolves when the services of all of them can answer. */
  async start(): Promise<void> {
    const { plan, tls } = this.#options;
    for (let number = 2; number <= plan.threads; number += 1)
      this.#threads.push(this.#open(number));
    this.#endRenewal = tls.onRenewal((certificate) => {
      for (const { port } of this.#threads)
        port.call('renew', certificate).catch((error: unknown) => this.#fail(error));
    });
    const prepared = this.#threads.map(({ port }) => port.call('prepare', undefined));
    await Promise.race([Promise.all(prepared), this.#failed.promise]);
    this.#state = 'serving';
  }

  /**
   * Another process of the same user could listen on ports that threads share.
   * @throws Error of the system for a port that is in use
   */
  async requireFreePorts(host: string, ports: readonly number[]): Promise<void> {
    for (const port of ports) {
      const server = createServer();
      const bound = once(server, 'listening');
      server.listen({ port, host });
      await bound;
      server.close();
      await once(server, 'close');
    }
  }

  /** @param gateway of the first thread, which listens already */
  async listen(gateway: Gateway, ports: EdgePorts): Promise<void> {
    this.#gateway = gateway;
    await Promise.all(this.#threads.map(({ port }) => port.call('listen', ports)));
  }

  async reload(): Promise<void> {
    await Promise.all(this.#threads.map(({ port }) => port.call('reload', undefined)));
  }

  async stop(): Promise<void> {
    this.#state = 'stopping';
    this.#endRenewal();
    await Promise.all(
      this.#threads.map(async ({ worker, port }) => {
        await port.call('stop', undefined);
        await worker.terminate();
      }),
    );
  }

  #open(number: number): ServingThread {
    const { plan, tls } = this.#options;
    const writer = openWriterPort();
    const workerData: ThreadPlan = { ...plan, writer, certificate: tls.current() };
    const worker = new Worker(new URL('./serving-thread.ts', import.meta.url), {
      name: `serving-${number}`,
      workerData,
      transferList: [writer],
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', (code) =>
      this.#fail(new Error(`serving-${number} has ended with code ${code}`)),
    );
    const port = new ThreadPort<ServingThreadCalls>(worker, this.#callsOf(worker));
    return { worker, port };
  }

  /** A failed start is refused; later, the process ends as after any uncaught exception, which names the capability. */
  #fail(error: unknown): void {
    if (this.#state === 'starting') this.#failed.reject(error);
    if (this.#state !== 'serving') return;
    process.nextTick(() => {
      throw error;
    });
  }

  #callsOf(worker: Worker): { readonly [N in keyof FirstThreadCalls]: FirstThreadCalls[N] } {
    const { leases } = this.#options;
    return {
      acquireLease: (lease) => leases.acquire(...lease),
      renewLease: (lease) => leases.renew(...lease),
      releaseLease: (lease) => leases.release(...lease),
      count: ({ window, caller }) => this.#counts.count(window, caller),
      askOthers: (question) => this.#askAll(question, worker),
    };
  }

  /** @param asking the thread that asks; undefined for the first one */
  #askAll(question: Question, asking: Worker | undefined): Promise<readonly unknown[]> {
    const { name, given } = question;
    const own = this.#gateway?.forSiblings[name] as
      | ((given: unknown) => Promise<unknown>)
      | undefined;
    return Promise.all([
      ...(asking === undefined || own === undefined ? [] : [own(given)]),
      ...this.#threads
        .filter(({ worker }) => worker !== asking)
        .map(({ port }) => port.call(name, given as never)),
    ]);
  }
}
