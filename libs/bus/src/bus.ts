/** Entry point without NATS. `@keelson/bus/jetstream` is separate, so that its client is loaded on demand. */
export { InProcessBus } from './in-process-bus.ts';
export type * from './message-bus.ts';
