/**
 * Loaded before the code of a measured process (`node --import`), in each of its threads: SIGUSR2 starts a CPU profile
 * of all of them and, sent again, ends it. Each thread then writes `PID-TID.cpuprofile` into the folder named by
 * `BENCH_PROFILE_FOLDER`, and the main thread writes `PID.done` after the last of them.
 */
import { readlinkSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { basename, join } from 'node:path';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/** Fine enough for requests of a millisecond; finer ones slow the process down by more than a tenth. */
const SAMPLE_EVERY_MICROSECONDS = 500;

const folder = process.env['BENCH_PROFILE_FOLDER'] ?? '.';
/** Number of this thread in the system. */
const thread = basename(readlinkSync('/proc/thread-self'));
const session = new Session();

const start = async (): Promise<void> => {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_MICROSECONDS });
  await session.post('Profiler.start');
};

const stop = async (): Promise<void> => {
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  writeFileSync(join(folder, `${process.pid}-${thread}.cpuprofile`), JSON.stringify(profile));
};

const channel = new BroadcastChannel('bench-profile');
channel.unref();

if (isMainThread) {
  let isProfiling = false;
  let others = 0;
  const finish = (): void => writeFileSync(join(folder, `${process.pid}.done`), '');
  channel.onmessage = ({ data }) => {
    if (data === 'started') others += 1;
    if (data === 'stopped') others -= 1;
    if (data === 'stopped' && others === 0) finish();
  };
  process.on('SIGUSR2', () => {
    isProfiling = !isProfiling;
    channel.postMessage(isProfiling ? 'start' : 'stop');
    if (isProfiling) void start();
    else void stop().then(() => others === 0 && finish());
  });
} else {
  channel.onmessage = ({ data }) => {
    if (data === 'start') void start().then(() => channel.postMessage('started'));
    if (data === 'stop') void stop().then(() => channel.postMessage('stopped'));
  };
}
