import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';
import { OF_PROCESS } from './thread-metrics.ts';

/**
 * Registers the space on the disks of folders.
 * @param folders by purpose; one that cannot be asked has no series
 */
export const registerDiskMetrics = (
  registry: Registry,
  folders: Readonly<Record<string, string>>,
): void => {
  const show = (name: string, help: string, measure: (disk: StatsFs) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['purpose'],
      ...OF_PROCESS,
      registers: [registry],
      async collect() {
        this.reset();
        for (const [purpose, folder] of Object.entries(folders)) {
          const disk = await statfs(folder).catch(() => undefined);
          if (disk !== undefined) this.set({ purpose }, measure(disk));
        }
      },
    });
  };
  show(
    'keelson_disk_free_bytes',
    'Space on the disk of the folder that Keelson may still use.',
    ({ bavail, bsize }) => bavail * bsize,
  );
  show(
    'keelson_disk_size_bytes',
    'Size of the disk of the folder.',
    ({ blocks, bsize }) => blocks * bsize,
  );
};
