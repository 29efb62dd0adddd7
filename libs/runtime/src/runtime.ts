export { type ConfiguredProcess, runConfiguredProcess } from './configured-process.ts';
export {
  makeFileDurably,
  removeFileDurably,
  syncFolder,
  writeFileDurably,
} from './durable-files.ts';
export { startProbes } from './probes.ts';
export { type ProcessOptions, reportHandlerFaults, runProcess, type Stoppable } from './process.ts';
export {
  electingSettings,
  enrolledSettings,
  processSettings,
  publicAddressSettings,
  replicationSettings,
  sentinelSettings,
  servingSettings,
  storeSettings,
} from './process-settings.ts';
export { startTracing, type TracingOptions } from './tracing.ts';
export { VERSION } from './version.ts';
export { startWorker, type Worker, type WorkerOptions } from './worker.ts';
