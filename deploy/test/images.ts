/**
 * Images for the container tests, built from this tree; see deploy/images. Each run has images of its own,
 * so that runs at the same time do not test each other's.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

const run = promisify(execFile);
const LABEL = 'keelson.test-image';
/** Older images were left behind by a run that was killed. */
const KEPT_FOR = '24h';

/** Options of `docker build` for an image that no run but this one uses. */
export const TEST_IMAGE_OPTIONS = ['--label', LABEL] as const;

/** A name that is unique to this run. */
export const newImageName = (name: string): string =>
  `${name}:test-${randomBytes(6).toString('hex')}`;

/** Removes the images with the containers that a failed test left running, and prunes old test images. */
export const removeImages = async (...images: readonly string[]): Promise<void> => {
  const ancestors = images.flatMap((image) => ['--filter', `ancestor=${image}`]);
  const { stdout } = await run('docker', ['ps', '--all', '--quiet', ...ancestors]);
  const left = stdout.split('\n').filter((id) => id !== '');
  if (left.length > 0) await run('docker', ['rm', '--force', '--volumes', ...left]);
  await run('docker', ['image', 'rm', '--force', ...images]);
  const old = ['--filter', `label=${LABEL}`, '--filter', `until=${KEPT_FOR}`];
  await run('docker', ['image', 'prune', '--all', '--force', ...old]);
};

export interface TestImages extends AsyncDisposable {
  readonly keelson: string;
  /** Environment variables with which docker-compose.yml uses local images only. */
  readonly environment: Readonly<Record<string, string>>;
}

export const buildImages = async (): Promise<TestImages> => {
  await run('deploy/images/stand-ins/build.sh', { cwd: REPOSITORY });
  const keelson = newImageName('keelson');
  await run('deploy/images/build.sh', [keelson, ...TEST_IMAGE_OPTIONS], {
    cwd: REPOSITORY,
    env: { ...process.env, BASE_IMAGE: 'keelson-base:bookworm' },
  });
  return {
    keelson,
    environment: {
      KEELSON_IMAGE: keelson,
      POSTGRES_IMAGE: 'keelson-postgres:stand-in',
      REDIS_IMAGE: 'keelson-redis:stand-in',
      NATS_IMAGE: 'keelson-nats:stand-in',
      HAPROXY_IMAGE: 'keelson-haproxy:stand-in',
    },
    [Symbol.asyncDispose]: () => removeImages(keelson),
  };
};
