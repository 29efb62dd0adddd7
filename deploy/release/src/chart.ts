/** The Helm chart as an archive. `helm package` writes the time of its run into it, so tar does it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY, rootManifest } from './repository.ts';

/** @returns the file, in `folder` */
export const packChart = async (folder: string, time: number): Promise<string> => {
  const file = join(folder, `keelson-chart-${rootManifest().version}.tgz`);
  await promisify(execFile)(
    'tar',
    [
      '--sort=name',
      `--mtime=@${time}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=u=rwX,go=rX',
      '--use-compress-program=gzip --no-name',
      '-cf',
      file,
      'keelson',
    ],
    { cwd: join(REPOSITORY, 'deploy/helm') },
  );
  return file;
};
