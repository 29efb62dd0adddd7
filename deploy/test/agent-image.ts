/** The reference agent as an image, on a base that holds what it needs: Node, tar and terraform. */
import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';
import { newImageName, REPOSITORY, removeImages, TEST_IMAGE_OPTIONS } from './images.ts';

const run = promisify(execFile);

export interface AgentImage extends AsyncDisposable {
  readonly name: string;
}

/** @param terraform the binary that goes into the image */
export const buildAgentImage = async (terraform: string): Promise<AgentImage> => {
  await run('deploy/images/stand-ins/build.sh', { cwd: REPOSITORY });
  await using folder = await temporaryDirectory();
  await copyFile(process.execPath, join(folder.path, 'node'));
  await copyFile(terraform, join(folder.path, 'terraform'));
  await writeFile(
    join(folder.path, 'Dockerfile'),
    'FROM keelson-base:bookworm\nCOPY node terraform /usr/local/bin/\n',
  );
  const [base, name] = [newImageName('keelson-agent-base'), newImageName('keelson-agent')];
  const build = ['build', '--quiet', ...TEST_IMAGE_OPTIONS, '-t'];
  await run('docker', [...build, base, folder.path]);
  const file = ['--build-arg', `BASE_IMAGE=${base}`, '-f', 'deploy/agent/Dockerfile'];
  await run('docker', [...build, name, ...file, '.'], { cwd: REPOSITORY });
  return { name, [Symbol.asyncDispose]: () => removeImages(name, base) };
};
