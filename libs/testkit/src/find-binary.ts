import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Debian keeps the servers of each PostgreSQL version out of PATH. */
const postgresqlFolders = async (): Promise<string[]> => {
  const root = '/usr/lib/postgresql';
  const versions = await readdir(root).catch(() => []);
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'));
};

/** Full path of a server binary. @throws Error naming the Debian package that holds it */
export const findBinary = async (name: string, debianPackage: string): Promise<string> => {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/sbin',
    ...(await postgresqlFolders()),
  ];
  for (const folder of folders) {
    const file = join(folder, name);
    if (await isExecutable(file)) return file;
  }
  throw new Error(`${name} is not installed; on Debian: apt-get install ${debianPackage}`);
};
