/** R8: a disk that is full, read-only or damaged, a wrong key file, a wrong clock. */
import type { Chaos } from '../chaos.ts';
import { createKept, findMissing, start } from './data-folder.ts';
import { DISK_CASES } from './disk-cases.ts';
import { mountSmallDisk } from './small-disk.ts';

/** Room for a start and some megabytes of policies. */
const DISK_MEGABYTES = 24;

export const disk: Chaos = {
  name: 'disk',
  promise:
    'R8 a full disk, a read-only data folder, corrupt pages, a wrong key file and a wrong clock: refused ' +
    'with the reason, nothing lost, and all as before once it is mended',
  unit: 'cases',
  counts: { full: DISK_CASES.length, short: 3 },
  run: async ({ count, say }) => {
    await using small = await mountSmallDisk(DISK_MEGABYTES);
    const first = await start(small.path);
    const kept = await createKept(first);
    await first.process.stop();
    const broken: string[] = [];
    const figures: Record<string, string> = {};
    for (const { name, needsSmallDisk, run } of DISK_CASES.slice(0, count)) {
      if (needsSmallDisk === true && !small.isSmall) {
        figures[name] = 'not tried: needs the right to mount';
        continue;
      }
      say(name);
      const found = await run(small, kept);
      broken.push(...found.map((what) => `${name}: ${what}`));
      figures[name] = found.length === 0 ? 'held' : 'broken';
    }
    const last = await start(small.path);
    broken.push(...(await findMissing(last, kept)).map((what) => `in the end: ${what}`));
    await last.process.stop();
    return { broken, figures };
  },
};
