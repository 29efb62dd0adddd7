/** The reference agent as an image, on a base that holds what it needs: Node, tar and terraform. */
import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';
import { REPOSITORY } from './images.ts';

export const AGENT_IMAGE = 'keelson-agent:test';
const AGENT_BASE_IMAGE = 'keelson-agent-base:test';

const run = promisify(execFile);

/** @param terraform the binary that goes into the image */
export const buildAgentImage = async (terraform: string): Promise<void> => {
  await run('deploy/images/stand-ins/build.sh', { cwd: REPOSITORY });
  await using folder = await temporaryDirectory();
  await copyFile(process.execPath, join(folder.path, 'node'));
  await copyFile(terraform, join(folder.path, 'terraform'));
  await writeFile(
    join(folder.path, 'Dockerfile'),
    'FROM keelson-base:bookworm\nCOPY node terraform /usr/local/bin/\n',
  );
  await run('docker', ['build', '--quiet', '-t', AGENT_BASE_IMAGE, folder.path]);
  const base = `BASE_IMAGE=${AGENT_BASE_IMAGE}`;
  const file = ['-f', 'deploy/agent/Dockerfile', 'deploy/agent'];
  await run('docker', ['build', '--quiet', '--build-arg', base, '-t', AGENT_IMAGE, ...file], {
    cwd: REPOSITORY,
  });
};
