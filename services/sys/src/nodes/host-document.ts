/** `sys/host-info`: the machine of the process that answers, with the member names of gopsutil. */
import { arch, cpus, freemem, hostname, platform, release, totalmem, uptime } from 'node:os';
import type { JsonObject } from '@keelson/secrets-api';

/** The built-in runner that is part of the process. */
export interface RunnerStatus {
  readonly state: 'sandboxed' | 'unsafe' | 'off';
  /** A sentence about the execution of runs, without its subject; with the reason if the runner is off. */
  readonly description: string;
}

/**
 * @param nowMs time of the answer
 * @param runner undefined if another process decides whether runs are executed
 */
export const hostDocument = (nowMs: number, runner: RunnerStatus | undefined): JsonObject => {
  const [total, free] = [totalmem(), freemem()];
  const processors = cpus();
  return {
    timestamp: new Date(nowMs).toISOString(),
    host: {
      hostname: hostname(),
      uptime: Math.floor(uptime()),
      bootTime: Math.floor(nowMs / 1000 - uptime()),
      os: platform(),
      kernelVersion: release(),
      kernelArch: arch(),
    },
    cpu: processors.map(({ model, speed }, cpu) => ({ cpu, modelName: model, mhz: speed })),
    cpu_times: processors.map(({ times }, cpu) => ({
      cpu: `cpu${cpu}`,
      user: times.user / 1000,
      system: times.sys / 1000,
      idle: times.idle / 1000,
      nice: times.nice / 1000,
      irq: times.irq / 1000,
    })),
    memory: {
      total,
      available: free,
      free,
      used: total - free,
      usedPercent: ((total - free) / total) * 100,
    },
    ...(runner !== undefined && { runner: { ...runner } }),
  };
};
