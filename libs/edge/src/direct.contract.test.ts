import { registerEdgeContract } from './edge.contract.ts';

registerEdgeContract('directly', (service) =>
  Promise.resolve({ edge: service, close: () => Promise.resolve() }),
);
