/** Images for the container tests, built from this tree; see deploy/images. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
export const KEELSON_IMAGE = 'keelson:test';

const run = promisify(execFile);

/** Resolves with what docker-compose.yml needs to run on local images alone. */
export const buildImages = async (): Promise<Record<string, string>> => {
  await run('deploy/images/stand-ins/build.sh', { cwd: REPOSITORY });
  await run('deploy/images/build.sh', [KEELSON_IMAGE], {
    cwd: REPOSITORY,
    env: { ...process.env, BASE_IMAGE: 'keelson-base:bookworm' },
  });
  return {
    KEELSON_IMAGE,
    POSTGRES_IMAGE: 'keelson-postgres:stand-in',
    REDIS_IMAGE: 'keelson-redis:stand-in',
    NATS_IMAGE: 'keelson-nats:stand-in',
  };
};
