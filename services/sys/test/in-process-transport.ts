/** A bus shared by the clusters of one process; it closes with the process, not with one of its users. */
import { type Bus, InProcessBus } from '@keelson/bus';
import type { ReplicationTransport } from '@keelson/cluster-member';

export const inProcessTransport = (): ReplicationTransport => {
  const inner = new InProcessBus();
  const bus: Bus = {
    ensureStream: (options) => inner.ensureStream(options),
    publish: (stream, payload, options) => inner.publish(stream, payload, options),
    tail: (stream) => inner.tail(stream),
    consume: (stream, sequence, signal) => inner.consume(stream, sequence, signal),
    request: (subject, payload, options) => inner.request(subject, payload, options),
    respond: (subject, handler, signal) => inner.respond(subject, handler, signal),
    status: () => inner.status(),
    failure: () => inner.failure(),
    onStatus: (listener) => inner.onStatus(listener),
    close: () => Promise.resolve(),
  };
  return { bus, clusterAddress: 'here', apiAddress: '', connect: () => Promise.resolve(bus) };
};
