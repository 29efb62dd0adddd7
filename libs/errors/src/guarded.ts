/**
 * Handlers that run outside of a request, on bytes that come from outside: nobody awaits them, so an error that one of
 * them throws would end the process with everything that it does for others.
 */
import { channel } from 'node:diagnostics_channel';

/** An error of a handler, with the capability that the handler belongs to. */
export class HandlerFault extends Error {
  readonly capability: string;

  constructor(capability: string, cause: unknown) {
    super(`a handler of ${capability} failed`, { cause });
    this.capability = capability;
  }
}

/** Receives each `HandlerFault` of this process. Where nobody subscribes, the fault is thrown, and ends the process. */
export const handlerFaults = channel('keelson:handler-fault');

const counts = new Map<string, number>();

/** Number of faults of this process so far, by capability. */
export const countHandlerFaults = (): ReadonlyMap<string, number> => counts;

interface Endable {
  destroy?(): unknown;
  close?(): unknown;
}

const isEndable = (value: unknown): value is Required<Pick<Endable, 'destroy'>> =>
  typeof value === 'object' && value !== null && 'destroy' in value;

/** Ends what the event brought, such as a connection or a request; where it brought nothing, what it happened on. */
const endSubjects = (emitter: unknown, values: readonly unknown[]): void => {
  const brought = values.filter(isEndable);
  for (const subject of brought) subject.destroy();
  if (brought.length > 0) return;
  const endable = emitter as Endable;
  if (endable.destroy !== undefined) endable.destroy();
  else endable.close?.();
};

/**
 * Wraps a handler of a socket, server, stream, request or response. If it throws, or what it returns rejects, the
 * connection or stream in question ends, and the fault is counted and reported; nothing else is affected.
 * @param capability package and folder, such as "gateway/server"
 */
export const guarded = <This, A extends unknown[]>(
  capability: string,
  handler: (this: This, ...values: A) => unknown,
): ((this: This, ...values: A) => void) =>
  function guardedHandler(this: This, ...values: A): void {
    const fail = (error: unknown): void => {
      const fault = new HandlerFault(capability, error);
      counts.set(capability, (counts.get(capability) ?? 0) + 1);
      endSubjects(this, values);
      if (!handlerFaults.hasSubscribers) throw fault;
      handlerFaults.publish(fault);
    };
    try {
      const returned = handler.apply(this, values);
      if (returned instanceof Promise) returned.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
