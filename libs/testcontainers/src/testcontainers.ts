export {
  type ClusterOptions,
  KeelsonCluster,
  type ServiceName,
  type StartedKeelsonCluster,
} from './keelson-cluster.ts';
export { KeelsonContainer, StartedKeelsonContainer } from './keelson-container.ts';
export {
  KeelsonPair,
  type PairKind,
  type PairOptions,
  type StartedKeelsonPair,
} from './keelson-pair.ts';
