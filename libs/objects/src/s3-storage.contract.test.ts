import { type S3Server, startS3 } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('a bucket that does not exist is a fault, and none of its objects is absent', async () => {
  const storage = openS3Storage({
    ...server.access,
    bucket: 'elsewhere',
    prefix: '',
    timeoutMs: 5000,
  });
  const list = () => storage.list('', { limit: 1 });
  for (const ask of [() => storage.get('a'), () => storage.getStream('a'), list])
    await expect(ask()).rejects.toMatchObject({
      code: 'objects.unavailable',
      message: expect.stringContaining('it answers 404 NoSuchBucket'),
    });
  await storage.close();
});

test('credentials that the storage does not know are refused with its code', async () => {
  const storage = openS3Storage({
    ...server.access,
    secretAccessKey: 'another',
    prefix: '',
    timeoutMs: 5000,
  });
  await expect(storage.put('a', Buffer.from('a'))).rejects.toThrow(
    'it answers 403 SignatureDoesNotMatch',
  );
  await storage.close();
});
