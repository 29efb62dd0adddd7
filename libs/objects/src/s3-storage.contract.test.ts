import { type S3Server, startS3 } from '@keelson/testkit';
import { afterAll, beforeAll } from 'vitest';
import { registerObjectStorageContract } from './object-storage.contract.ts';
import { openS3Storage } from './s3-storage.ts';

let server: S3Server;
beforeAll(async () => {
  server = await startS3();
  // The first start on a machine builds the server.
}, 600_000);
afterAll(() => server[Symbol.asyncDispose]());

registerObjectStorageContract('S3', () => ({
  open: () => openS3Storage({ ...server.access, prefix: 'of-keelson/', timeoutMs: 5000 }),
}));
