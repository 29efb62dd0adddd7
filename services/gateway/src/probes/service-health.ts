/**
 * The services that cannot serve requests, for `sys/health`. The gateway adds them, because in both forms it
 * is the one process that asks every service; load balancers often know no other endpoint.
 */
import type { EdgeService } from '@keelson/edge';

/** Read by sys; a value that the client sent is replaced. */
const UNAVAILABLE_SERVICES = 'x-unavailable-services';

export const withServiceHealth = (
  sys: EdgeService,
  services: Readonly<Record<string, EdgeService>>,
): EdgeService => {
  /** Undefined where the service can serve requests. */
  const unavailable = async ([name, service]: readonly [string, EdgeService]) =>
    service.check().then(
      () => undefined,
      () => name,
    );
  return {
    handle: async (request) => {
      if (request.head.path !== '/sys/health') return sys.handle(request);
      const others = Object.entries(services).filter(([name]) => name !== 'sys');
      const names = (await Promise.all(others.map(unavailable))).filter(
        (name) => name !== undefined,
      );
      const { head, body, signal, timeoutMs } = request;
      const headers = { ...head.headers, [UNAVAILABLE_SERVICES]: names.join(',') };
      return sys.handle({ head: { ...head, headers }, body, signal, timeoutMs });
    },
    describe: () => sys.describe(),
    check: () => sys.check(),
  };
};
