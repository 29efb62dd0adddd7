/** A certificate authority alone in a process, which revokes a million certificates and builds their CRL. */
import { randomFillSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { revocationRecords } from '@keelson/pki-service';
import { REVOCATION_REASON, toSerialKey } from '@keelson/x509';
import { answerCommands } from '../child-process.ts';
import { AUTHORITY_MOUNT, openAuthority } from '../in-process-authority.ts';

const STEP = 2000;

const seed = async ({ folder, count }: { folder: string; count: number }): Promise<void> => {
  const authority = await openAuthority(folder);
  const root = { common_name: 'Keelson Bench', key_type: 'ec', ttl: '87600h' };
  const made = JSON.parse(
    Buffer.from(await authority.call('POST', 'root/generate/internal', root)).toString(),
  );
  await authority.call('POST', 'config/crl', { max_crl_entries: -1 });
  const records = revocationRecords(AUTHORITY_MOUNT);
  const issuerId: string = made.data.issuer_id;
  const notAfterMs = Date.now() + 86_400_000;
  for (let written = 0; written < count; written += STEP)
    await authority.store.transact((tx) => {
      for (let one = written; one < Math.min(count, written + STEP); one++)
        records.write(tx, toSerialKey(randomFillSync(new Uint8Array(19))), {
          revokedAtMs: Date.UTC(2026, 0, 1) + (one % 86_400) * 1000,
          issuerId,
          notAfterMs,
          revokedBy: { kind: 'lease' },
          // Half of the revocations have a reason.
          reason: one % 2 === 0 ? undefined : REVOCATION_REASON.superseded,
        });
    });
  await authority.close();
};

/** Resident memory: in total, and without mapped pages of files, which the kernel reclaims as needed. */
const residentMegabytes = (): { readonly all: number; readonly anonymous: number } => {
  const status = readFileSync('/proc/self/status', 'utf8');
  const megabytes = (name: string): number =>
    Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  return { all: megabytes('VmRSS'), anonymous: megabytes('RssAnon') };
};

export interface CrlMeasurement {
  readonly seconds: number;
  /** Wall-clock time, including the use of the core by other processes. */
  readonly longestBlockMilliseconds: number;
  /** CPU time of the thread between two turns of its event loop. */
  readonly longestWorkMilliseconds: number;
  /** Without mapped pages of files. */
  readonly megabytesAboveIdle: number;
  readonly allMegabytesAboveIdle: number;
  readonly listMegabytes: number;
}

const SAMPLE_MILLISECONDS = 1;
const SAMPLES_PER_MEMORY_READING = 10;

/** Watches the event loop and the memory until it is stopped. */
const watch = () => {
  const idle = residentMegabytes();
  const delay = monitorEventLoopDelay({ resolution: SAMPLE_MILLISECONDS });
  const peak = { ...idle };
  let longestWorkMilliseconds = 0;
  let samples = 0;
  let used = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(used);
    longestWorkMilliseconds = Math.max(longestWorkMilliseconds, (user + system) / 1000);
    if (samples++ % SAMPLES_PER_MEMORY_READING === 0) {
      const { all, anonymous } = residentMegabytes();
      peak.all = Math.max(peak.all, all);
      peak.anonymous = Math.max(peak.anonymous, anonymous);
    }
    used = process.threadCpuUsage();
  }, SAMPLE_MILLISECONDS);
  delay.enable();
  return () => {
    delay.disable();
    clearInterval(timer);
    return {
      longestBlockMilliseconds: delay.max / 1e6,
      longestWorkMilliseconds,
      megabytesAboveIdle: peak.anonymous - idle.anonymous,
      allMegabytesAboveIdle: peak.all - idle.all,
    };
  };
};

const build = async ({ folder }: { folder: string }): Promise<CrlMeasurement> => {
  const authority = await openAuthority(folder);
  await authority.call('GET', 'ca');
  const stopWatching = watch();
  const startedAt = performance.now();
  await authority.call('GET', 'crl/rotate');
  const seconds = (performance.now() - startedAt) / 1000;
  const watched = stopWatching();
  const list = await authority.call('GET', 'crl');
  await authority.close();
  return { seconds, ...watched, listMegabytes: list.byteLength / 1024 ** 2 };
};

answerCommands({ seed, build });
