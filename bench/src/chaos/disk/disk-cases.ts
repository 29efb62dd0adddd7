/** R8: faults of a disk, a key file and a clock. Each case restores the data folder. */

import { randomBytes } from 'node:crypto';
import { copyFile, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shiftedClock } from '@keelson/testkit';
import { findMissing, type Kept, refusalOf, start } from './data-folder.ts';
import type { SmallDisk } from './small-disk.ts';

const PAGE_BYTES = 4096;
const SERVER_FAULT = 500;
const FULL_TEXT = 'x'.repeat(20_000);
const SHOWN_CHARACTERS = 500;
const POLICY = { policy: 'path "pki/*" { capabilities = ["read"] }' };

export interface Case {
  readonly name: string;
  readonly needsSmallDisk?: true;
  /** @returns a sentence for each broken promise */
  readonly run: (disk: SmallDisk, kept: Kept) => Promise<readonly string[]>;
}

const shown = (text: string): string => JSON.stringify(text.slice(0, SHOWN_CHARACTERS));

/** A refusal names the fault and shows no stack trace. */
const judgeRefusal = (refusal: string | undefined, expected: RegExp): string[] => {
  if (refusal === undefined) return ['it started'];
  if (!expected.test(refusal)) return [`it did not say why: ${shown(refusal)}`];
  return /^\s+at \S+ \(/m.test(refusal) ? [`it showed a stack: ${shown(refusal)}`] : [];
};

/** Writes policies until one is refused; those before it must remain. */
const fillUp = async ({ v1 }: Awaited<ReturnType<typeof start>>) => {
  const policy = `# ${FULL_TEXT}\npath "a" { capabilities = ["read"] }`;
  for (let written = 0; ; written += 1) {
    const answer = await v1('POST', `sys/policies/acl/full-${written}`, { policy });
    if (answer.status >= 300) return { written, answer };
  }
};

const diskFull: Case = {
  name: 'disk full',
  needsSmallDisk: true,
  run: async (disk, kept) => {
    const broken: string[] = [];
    let started = await start(disk.path);
    const { written, answer } = await fillUp(started);
    if (answer.status === SERVER_FAULT || !/full/.test(JSON.stringify(answer.body)))
      broken.push(`a write to a full disk: ${answer.status} ${JSON.stringify(answer.body)}`);
    broken.push(...(await findMissing(started, kept)));
    await disk.change('size=64m');
    const again = await started.v1('POST', 'sys/policies/acl/room', POLICY);
    if (again.status >= 300)
      broken.push(`with room again: ${again.status} ${JSON.stringify(again.body)}`);
    await started.process.stop('SIGKILL');
    started = await start(disk.path);
    broken.push(...(await findMissing(started, kept)));
    const names: readonly string[] = (await started.v1('LIST', 'sys/policies/acl')).body.data.keys;
    for (let index = 0; index < written; index += 1)
      if (!names.includes(`full-${index}`))
        broken.push(`policy ${index} was acknowledged and is lost`);
    for (const name of names.filter((one) => one.startsWith('full-')))
      await started.v1('DELETE', `sys/policies/acl/${name}`);
    await started.process.stop();
    return broken;
  },
};

const readOnly: Case = {
  name: 'data folder that is read-only',
  needsSmallDisk: true,
  run: async (disk) => {
    await disk.change('ro');
    const refusal = await refusalOf(disk.path);
    await disk.change('rw');
    return judgeRefusal(refusal, /read-only|cannot be written/);
  },
};

const wrongKey: Case = {
  name: 'wrong key file',
  run: async (disk) => {
    const file = join(disk.path, 'data', 'unseal.key');
    const right = await readFile(file);
    await writeFile(file, randomBytes(32).toString('base64'));
    const another = await refusalOf(disk.path);
    await writeFile(file, 'not a key');
    const none = await refusalOf(disk.path);
    await writeFile(file, right);
    return [...judgeRefusal(another, /unseal key/), ...judgeRefusal(none, /unseal key/)];
  },
};

/** Overwrites the pages of a store except the first, like a disk that lost them. */
const damagePages = async (file: string): Promise<void> => {
  const handle = await open(file, 'r+');
  const { size } = await handle.stat();
  for (let at = 2 * PAGE_BYTES; at < size; at += PAGE_BYTES)
    await handle.write(new Uint8Array(512).fill(0xff), 0, 512, at);
  await handle.close();
};

const corruptPages: Case = {
  name: 'corrupt pages',
  run: async (disk, kept) => {
    const broken: string[] = [];
    const file = join(disk.path, 'data', 'pki.sqlite');
    await copyFile(file, `${file}.copy`);
    await damagePages(file);
    const damaged = await readFile(file);
    // It may refuse to start, or start and refuse what it cannot read. Either way it reports the damage.
    const started = await start(disk.path).catch((error: Error) => error);
    if (started instanceof Error)
      broken.push(...judgeRefusal(started.message, /corrupt|malformed/));
    else {
      const read = await started.v1('GET', `pki/cert/${kept.serial}`);
      if (read.status < SERVER_FAULT || !/damaged|corrupt/.test(JSON.stringify(read.body)))
        broken.push(`a damaged certificate: ${read.status} ${JSON.stringify(read.body)}`);
      const policy = await started.v1('GET', 'sys/policies/acl/kept');
      if (policy.status !== 200) broken.push(`what is not damaged: ${policy.status}`);
      await started.process.stop();
    }
    if ((await readFile(file)).length < damaged.length) broken.push('the damaged file was cut');
    await rename(`${file}.copy`, file);
    return broken;
  },
};

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

const wrongClock: Case = {
  name: 'wrong clock',
  run: async (disk, kept) => {
    const broken: string[] = [];
    for (const [when, offMs, isIssued] of [
      // A certificate may be valid earlier than its authority, as when it is backdated.
      ['a year ago', -YEAR_MS, true],
      // The authority has expired.
      ['in a year', YEAR_MS, false],
    ] as const) {
      const started = await start(disk.path, shiftedClock(offMs));
      broken.push(...(await findMissing(started, kept)).map((what) => `${when}: ${what}`));
      const body = { common_name: 'b.example.com', ttl: '1h' };
      const issued = await started.v1('POST', 'pki/issue/kept', body);
      if (issued.status >= SERVER_FAULT || issued.status < 300 !== isIssued)
        broken.push(`${when} issuing: ${issued.status} ${JSON.stringify(issued.body['errors'])}`);
      const written = await started.v1('POST', 'sys/policies/acl/clock', POLICY);
      if (written.status >= 300) broken.push(`${when} writing: ${written.status}`);
      await started.process.stop();
    }
    return broken;
  },
};

/** In the order for a short run: refused starts are cheapest. */
export const DISK_CASES: readonly Case[] = [readOnly, wrongKey, diskFull, corruptPages, wrongClock];
