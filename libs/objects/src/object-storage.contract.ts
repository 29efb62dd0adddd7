/** The promises of every ObjectStorage. */
import { describe, expect, test } from 'vitest';
import { listAll, type ObjectStorage } from './object-storage.ts';

export interface ObjectStorageSubject {
  /** Another storage of the same objects. */
  readonly open: () => ObjectStorage;
}

async function* chunksOf(...chunks: readonly (string | Uint8Array)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const keysOf = async (storage: ObjectStorage, prefix: string, after?: string, limit = 1000) =>
  (await storage.list(prefix, { limit, ...(after !== undefined && { after }) })).map(
    ({ key }) => key,
  );

const textOf = async (chunks: AsyncIterable<Uint8Array> | undefined) => {
  const received: Uint8Array[] = [];
  for await (const chunk of chunks ?? []) received.push(chunk);
  return Buffer.concat(received);
};

export const registerObjectStorageContract = (
  name: string,
  subject: () => ObjectStorageSubject,
): void => {
  describe(`object storage: ${name}`, () => {
    test('returns what was stored, also after it is opened again', async () => {
      const storage = subject().open();
      await storage.put('a/1', Buffer.from('one'));
      expect(Buffer.from((await storage.get('a/1')) ?? []).toString()).toBe('one');
      await storage.close();
      const again = subject().open();
      expect((await textOf(await again.getStream('a/1'))).toString()).toBe('one');
      await again.close();
    });

    test('has no object that was never stored, also below or above another', async () => {
      const storage = subject().open();
      await storage.put('deep/folder/object', Buffer.from('x'));
      for (const key of ['never', 'deep', 'deep/folder', 'deep/folder/object/below']) {
        expect(await storage.get(key).catch(() => undefined)).toBeUndefined();
        expect(await storage.getStream(key)).toBeUndefined();
      }
      await storage.close();
    });

    test('stores empty objects, and replaces objects', async () => {
      const storage = subject().open();
      await storage.put('b/1', new Uint8Array());
      expect((await storage.get('b/1'))?.byteLength).toBe(0);
      await storage.put('b/1', Buffer.from('two'));
      expect(Buffer.from((await storage.get('b/1')) ?? []).toString()).toBe('two');
      await storage.close();
    });

    test('stores a stream of unknown size, larger than one part', async () => {
      const storage = subject().open();
      const piece = Buffer.alloc(5_000_000, 'keelson ');
      const size = await storage.putStream('c/large', chunksOf(...Array(7).fill(piece), 'end'));
      expect(size).toBe(35_000_003);
      const read = await textOf(await storage.getStream('c/large'));
      expect(read.equals(Buffer.concat([...Array(7).fill(piece), Buffer.from('end')]))).toBe(true);
      expect(await storage.putStream('c/empty', chunksOf())).toBe(0);
      expect((await storage.get('c/empty'))?.byteLength).toBe(0);
      await storage.close();
    });

    test('shows nothing of a stream that fails, and keeps what was there before', async () => {
      const storage = subject().open();
      await storage.put('d/kept', Buffer.from('kept'));
      const failing = async function* () {
        yield Buffer.alloc(20_000_000, 'x');
        throw new Error('the source failed');
      };
      for (const key of ['d/kept', 'd/new'])
        await expect(storage.putStream(key, failing())).rejects.toThrow('the source failed');
      expect(await keysOf(storage, 'd/')).toEqual(['d/kept']);
      expect(Buffer.from((await storage.get('d/kept')) ?? []).toString()).toBe('kept');
      await storage.close();
    });

    test('lists by prefix, in byte order, from a key on', async () => {
      const storage = subject().open();
      for (const key of ['e/b/2', 'e/a-1', 'e/b/10', 'f/1', 'e/b/1', 'e/c'])
        await storage.put(key, Buffer.from(key));
      const keys = ['e/a-1', 'e/b/1', 'e/b/10', 'e/b/2', 'e/c'];
      expect(await keysOf(storage, 'e/')).toEqual(keys);
      expect(await keysOf(storage, 'e/b/1')).toEqual(['e/b/1', 'e/b/10']);
      expect(await keysOf(storage, 'e/', 'e/b/1')).toEqual(keys.slice(2));
      expect(await keysOf(storage, 'e/', 'e/b/11', 1)).toEqual(['e/b/2']);
      expect(await keysOf(storage, 'nothing/')).toEqual([]);
      const [first] = await storage.list('e/', { limit: 1 });
      expect(first?.sizeBytes).toBe(5);
      expect(Math.abs((first?.modifiedAtMs ?? 0) - Date.now())).toBeLessThan(3_600_000);
      await storage.close();
    });

    test('lists more than a page', async () => {
      const storage = subject().open();
      const keys = Array.from(
        { length: 1003 },
        (_, index) => `g/${String(index).padStart(4, '0')}`,
      );
      for (let at = 0; at < keys.length; at += 50)
        await Promise.all(keys.slice(at, at + 50).map((key) => storage.put(key, Buffer.from('x'))));
      const listed = [];
      for await (const { key } of listAll(storage, 'g/')) listed.push(key);
      expect(listed).toEqual(keys);
      await storage.close();
    });

    test('deletes objects, and ignores keys without one', async () => {
      const storage = subject().open();
      for (const key of ['h/1', 'h/2', 'h/3']) await storage.put(key, Buffer.from(key));
      await storage.delete(['h/1', 'h/none', 'h/3']);
      await storage.delete([]);
      expect(await keysOf(storage, 'h/')).toEqual(['h/2']);
      await storage.close();
    });

    test('refuses keys that lead elsewhere', async () => {
      const storage = subject().open();
      for (const key of ['', '/x', '../x', 'a/../../x', 'a//b', 'a b', 'ä'])
        await expect(storage.put(key, Buffer.from('x'))).rejects.toThrow('no key of an object');
      await storage.close();
    });
  });
};
