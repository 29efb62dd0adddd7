import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { startProcess } from '../child-process.ts';
import type { CrlMeasurement } from './crl-process.ts';

const PROCESS = new URL('./crl-process.ts', import.meta.url);

export const pkiCrl: Bench = {
  name: 'pki-crl',
  claim:
    'a full CRL of 1,000,000 revoked in 5 s, the event loop never blocked over 50 ms, 400 MB above idle (P6)',
  method:
    'Revocations are written as records; a fresh process then answers GET crl/rotate through the ' +
    'interface the gateway uses, and watches its event loop and its resident memory meanwhile.',
  run: async ({ quick, say }) => {
    const count = quick ? 5000 : 1_000_000;
    const folder = await mkdtemp(join(tmpdir(), 'keelson-bench-'));
    try {
      say(`revoking ${count} certificates`);
      const writer = await startProcess(PROCESS);
      await writer.ask('seed', { folder, count });
      await writer.stop();
      say('making their list');
      const builder = await startProcess(PROCESS);
      const measured = await builder.ask<CrlMeasurement>('build', { folder });
      const { cpuMicroseconds } = builder.usage();
      await builder.stop();
      return [
        {
          name: `list of ${count} entries, ${measured.listMegabytes.toFixed(1)} MB`,
          value: measured.seconds,
          unit: 's',
          limit: { name: 'P6', value: 5 },
          cpuMicrosecondsPerOperation: cpuMicroseconds / count,
        },
        {
          name: 'longest work of the event loop',
          value: measured.longestWorkMilliseconds,
          unit: 'ms',
          limit: { name: 'P6', value: 50 },
        },
        {
          name: 'longest block, with what other processes took',
          value: measured.longestBlockMilliseconds,
          unit: 'ms',
          limit: { name: 'P6', value: 50 },
        },
        {
          name: 'memory above idle, without mapped pages of the file',
          value: measured.megabytesAboveIdle,
          unit: 'MB',
          limit: { name: 'P6', value: 400 },
        },
        {
          name: 'memory above idle, mapped pages of the file with it',
          value: measured.allMegabytesAboveIdle,
          unit: 'MB',
        },
      ];
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};
