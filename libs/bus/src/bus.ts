/** The entry without NATS; `@keelson/bus/jetstream` is the other, so that its client is loaded where it is used. */
export { InProcessBus } from './in-process-bus.ts';
export type * from './message-bus.ts';
