/** Files of `/etc` that exist in the sandbox alone: programs look for the name of their user, and for `localhost`. */
import { join } from 'node:path';
import type { SandboxFile } from './command.ts';
import { writeReadable } from './readable-file.ts';

export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** @param folder gets the files, and is not one that the sandbox can write to */
export const writeIdentityFiles = async (
  folder: string,
  { uid, gid, home }: SandboxUser,
): Promise<readonly SandboxFile[]> => {
  const texts = {
    passwd: `run:x:${uid}:${gid}::${home}:/bin/sh\n`,
    group: `run:x:${gid}:\n`,
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  };
  const files = Object.entries(texts).map(([name, text]) => ({
    source: join(folder, name),
    target: join('/etc', name),
    text,
  }));
  for (const { source, text } of files) await writeReadable(source, text);
  return files;
};
