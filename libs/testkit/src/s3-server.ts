import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from './free-port.ts';
import { buildGoTool } from './go-tool.ts';
import { ServerProcess } from './server-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface S3Access {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly pathStyle: true;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Server extends AsyncDisposable {
  readonly port: number;
  /** Address and credentials of a bucket that is empty at first. */
  readonly access: S3Access;
  /** Folder in which the bucket's objects lie as files. */
  readonly bucketFolder: string;
  readonly process: ServerProcess;
}

const ACCESS_KEY_ID = 'keelson-test';
const SECRET_ACCESS_KEY = 'secret-of-the-object-storage';
const REGION = 'us-east-1';
const BUCKET = 'bodies';

/** An S3-compatible server (versitygw) on a free loopback port, whose objects survive a restart. */
export const startS3 = async (): Promise<S3Server> => {
  const file = await buildGoTool(join(import.meta.dirname, 'versitygw'));
  const directory = await temporaryDirectory();
  const root = join(directory.path, 'buckets');
  const bucketFolder = join(root, BUCKET);
  await mkdir(bucketFolder, { recursive: true });
  const port = await findFreePort();
  const credentials = ['--access', ACCESS_KEY_ID, '--secret', SECRET_ACCESS_KEY];
  const server = new ServerProcess({
    file,
    args: [
      ...credentials,
      '--region',
      REGION,
      '--port',
      `127.0.0.1:${port}`,
      '--keep-alive',
      'posix',
      '--sidecar',
      join(directory.path, 'metadata'),
      root,
    ],
    ready: /Admin|http:\/\/127\.0\.0\.1/,
  });
  await mkdir(join(directory.path, 'metadata'));
  await server.start();
  return {
    port,
    access: {
      endpoint: `http://127.0.0.1:${port}`,
      region: REGION,
      bucket: BUCKET,
      pathStyle: true,
      accessKeyId: ACCESS_KEY_ID,
      secretAccessKey: SECRET_ACCESS_KEY,
    },
    bucketFolder,
    process: server,
    async [Symbol.asyncDispose]() {
      await server.kill();
      await directory[Symbol.asyncDispose]();
    },
  };
};
