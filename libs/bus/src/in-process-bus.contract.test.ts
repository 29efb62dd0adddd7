import { registerBusContract } from './bus.contract.ts';
import { InProcessBus } from './in-process-bus.ts';

registerBusContract(async () => {
  const bus = new InProcessBus();
  return { bus, [Symbol.asyncDispose]: () => bus.close() };
});
