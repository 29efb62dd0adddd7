/**
 * Adds the services that cannot serve requests to `sys/health`, because load balancers often check
 * only that endpoint. The gateway does it, because in both forms it is the only process that
 * reaches every service.
 */
import type { Clock } from '@keelson/clock';
import type { EdgeService } from '@keelson/edge';
import { answeredInTime } from '../access/answered-in-time.ts';

/** Header for sys; a value sent by the client is replaced. */
const UNAVAILABLE_SERVICES = 'x-unavailable-services';

export const withServiceHealth = (
  sys: EdgeService,
  services: Readonly<Record<string, EdgeService>>,
  clock: Clock,
): EdgeService => {
  /** Name of the service; undefined if it can serve requests. */
  const unavailable = async ([name, service]: readonly [string, EdgeService]) => {
    const checked = service.check().then(
      () => undefined,
      () => name,
    );
    return answeredInTime(clock, checked, name);
  };
  return {
    ...sys,
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
  };
};
