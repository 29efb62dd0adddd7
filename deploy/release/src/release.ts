/** All files of a release. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeBill } from './bill-of-materials.ts';
import { packChart } from './chart.ts';
import { packDebian } from './debian-package.ts';
import { packPackage, stagePackage } from './npm-package.ts';

const digestsOf = async (folder: string): Promise<readonly string[]> =>
  Promise.all(
    (await readdir(folder)).toSorted().map(async (name) => {
      const digest = createHash('sha256').update(await readFile(join(folder, name)));
      return `${digest.digest('hex')}  ${name}`;
    }),
  );

/**
 * @param folder an empty one
 * @param time seconds since 1970, of every file
 * @param maintainer of the Debian package
 * @returns a line of SHA256SUMS for every file
 */
export const release = async (
  folder: string,
  time: number,
  maintainer: string,
): Promise<readonly string[]> => {
  const work = await mkdtemp(join(tmpdir(), 'keelson-release-'));
  try {
    const staged = join(work, 'package');
    await stagePackage(staged);
    await packPackage(staged, folder);
    await packChart(folder, time);
    await writeBill(staged, join(work, 'bill'), folder, time);
    await packDebian(staged, join(work, 'debian'), folder, time, maintainer);
    const digests = await digestsOf(folder);
    await writeFile(join(folder, 'SHA256SUMS'), `${digests.join('\n')}\n`);
    return digests;
  } finally {
    await rm(work, { recursive: true });
  }
};
