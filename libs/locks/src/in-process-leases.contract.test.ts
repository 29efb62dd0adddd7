import { InProcessLeaseRecords, InProcessLeaseStore } from './in-process-lease-store.ts';
import { registerLeaseContract } from './leases.contract.ts';

registerLeaseContract(async () => {
  const records = new InProcessLeaseRecords();
  return {
    openStore: (options) => new InProcessLeaseStore({ ...options, records }),
    [Symbol.asyncDispose]: async () => undefined,
  };
});
