/** A further thread that serves clients. Started by serving-threads.ts. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '@keelson/clock';
import { openNatsTransport } from '@keelson/cluster-member';
import {
  type CertificateSource,
  countThrough,
  type ServerCertificate,
} from '@keelson/gateway-service';
import { InProcessLeaseStore, type LeaseRecords } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import { reportHandlerFaults, startTracing } from '@keelson/runtime';
import { writeThrough } from '@keelson/storage';
import { unsealKeyFile } from '../first-start.ts';
import { composeReplica } from '../replica.ts';
import { openStandaloneLog } from '../standalone-log.ts';
import {
  closeStores,
  createStoresRegistry,
  joinStoresOfProcess,
  metricFolders,
  watchLosses,
} from '../stores.ts';
import {
  type FirstThreadCalls,
  type ServingThreadCalls,
  siblingsBy,
  type ThreadPlan,
} from './thread-calls.ts';
import { ThreadPort } from './thread-port.ts';

/** The certificate that the first thread gives, which reads and renews its files. */
const givenCertificate = (first: ServerCertificate) => {
  let current = first;
  const listeners = new Set<(certificate: ServerCertificate) => void>();
  const source: CertificateSource = {
    current: () => current,
    onRenewal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    refusal: () => undefined,
    reload: () => Promise.resolve(),
    close: () => listeners.clear(),
  };
  const renew = async (certificate: ServerCertificate): Promise<void> => {
    current = certificate;
    for (const listener of listeners) listener(certificate);
  };
  return { source, renew };
};

const leaseRecordsOf = (first: ThreadPort<FirstThreadCalls>): LeaseRecords => ({
  isReachable: true,
  acquire: (...lease) => first.call('acquireLease', lease),
  renew: (...lease) => first.call('renewLease', lease),
  release: (...lease) => first.call('releaseLease', lease),
  close: () => Promise.resolve(),
});

/** Resolves when the services of this thread can answer. */
const startReplica = async (
  plan: ThreadPlan,
  first: ThreadPort<FirstThreadCalls>,
  certificate: CertificateSource,
) => {
  writeThrough(plan.writer);
  const folder = { path: plan.folder, file: (name: string) => join(plan.folder, name) };
  const { config, memories, runner, threads } = plan;
  const log = openStandaloneLog(config);
  const logger = createLogger({
    name: 'keelson',
    level: config.logLevel,
    ...(log !== undefined && { destination: log }),
  });
  reportHandlerFaults(logger);
  const tracing = await startTracing({
    serviceName: 'keelson',
    endpoint: config.otlpEndpoint,
    logger,
  });
  const losses = watchLosses(logger);
  const stores = await joinStoresOfProcess({
    folder,
    memories,
    clock: systemClock,
    cacheBytes: Math.ceil(config.storeCacheBytes / threads),
    onLost: losses.onLost,
  });
  const leases = new InProcessLeaseStore({ records: leaseRecordsOf(first) });
  const transport = await openNatsTransport(config);
  const replica = composeReplica({
    config: { ...config, unsealKeyFile: config.unsealKeyFile ?? unsealKeyFile(folder) },
    folder,
    stores,
    leases,
    transport,
    registry: createStoresRegistry(stores, metricFolders(folder, config)),
    runner,
    threads,
    logger,
  });
  await replica.sys.start();
  await replica.startFollowers();
  const counting = countThrough((window, caller) => first.call('count', { window, caller }));
  const siblings = siblingsBy(threads, counting, (question) => first.call('askOthers', question));
  const gateway = replica.composeGateway(certificate, losses.restartReason, siblings);
  return {
    gateway,
    reload: async (): Promise<void> => {
      log?.reopen();
      await gateway.reload();
    },
    stop: async (): Promise<void> => {
      await gateway.stop();
      await replica.stop();
      await leases.close();
      await transport.close();
      await closeStores(stores);
      await tracing.stop();
      log?.flushSync();
    },
  };
};

const serve = (port: NonNullable<typeof parentPort>, plan: ThreadPlan): void => {
  const { source, renew } = givenCertificate(plan.certificate);
  const started = Promise.withResolvers<Awaited<ReturnType<typeof startReplica>>>();
  const own: ServingThreadCalls = {
    prepare: async () => void (await started.promise),
    listen: async (ports) => {
      await (await started.promise).gateway.start(ports);
    },
    renew,
    reload: async () => (await started.promise).reload(),
    stop: async () => (await started.promise).stop(),
    seal: async (request) => (await started.promise).gateway.forSiblings.seal(request),
    isOpen: async () => (await started.promise).gateway.forSiblings.isOpen(),
    faults: async () => (await started.promise).gateway.forSiblings.faults(),
    metrics: async () => (await started.promise).gateway.forSiblings.metrics(),
    recentRequests: async () => (await started.promise).gateway.forSiblings.recentRequests(),
  };
  const first = new ThreadPort<FirstThreadCalls>(port, { ...own });
  // A failure ends the thread, and the first one reports it.
  void startReplica(plan, first, source).then(started.resolve);
};

if (parentPort !== null) serve(parentPort, workerData as ThreadPlan);
