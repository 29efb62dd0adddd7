/** The promises of every place of contents. */
import { randomBytes } from 'node:crypto';
import type { Store } from '@keelson/storage';
import { describe, expect, test } from 'vitest';
import type { ContentBodies } from './content-bodies.ts';

export interface ContentBodiesSubject {
  readonly bodies: ContentBodies;
  readonly store: Store;
  /** Changes a bit of a stored piece. */
  readonly damage: (contentId: string, index: number) => Promise<void>;
}

const refusal = (code: string) => expect.objectContaining({ code });

export const registerContentBodiesContract = (
  name: string,
  subject: () => ContentBodiesSubject,
): void => {
  describe(`contents in ${name}`, () => {
    test('are read as they were written, piece by piece', async () => {
      const { bodies } = subject();
      const pieces = [randomBytes(bodies.pieceBytes), randomBytes(17), Buffer.from('end')];
      const digests: string[] = [];
      for (const [index, piece] of pieces.entries())
        digests.push(await bodies.write('sc-read', index, piece));
      for (const [index, piece] of pieces.entries()) {
        const read = await bodies.read('sc-read', index, digests[index] ?? '');
        expect(Buffer.compare(read, piece)).toBe(0);
      }
    });

    test('are refused when they are missing, or not those that were written', async () => {
      const { bodies, damage } = subject();
      const digest = await bodies.write('sc-changed', 0, Buffer.from('first'));
      const other = await bodies.write('sc-changed', 1, Buffer.from('second'));
      await expect(bodies.read('sc-none', 0, digest)).rejects.toThrow(refusal('objects.missing'));
      await expect(bodies.read('sc-changed', 2, digest)).rejects.toThrow(
        refusal('objects.missing'),
      );
      await expect(bodies.read('sc-changed', 0, other)).rejects.toThrow(refusal('objects.damaged'));
      await damage('sc-changed', 0);
      await expect(bodies.read('sc-changed', 0, digest)).rejects.toThrow(/damaged|digest differs/);
      const read = await bodies.read('sc-changed', 1, other);
      expect(Buffer.from(read).toString()).toBe('second');
    });

    test('are removed with all their pieces, and nothing else', async () => {
      const { bodies } = subject();
      for (let index = 0; index < 130; index += 1)
        await bodies.write('sc-removed', index, Buffer.from([index]));
      const kept = await bodies.write('sc-removed2', 0, Buffer.from('kept'));
      const digest = await bodies.write('sc-removed', 130, Buffer.from('last'));
      while (await bodies.remove('sc-removed', {}));
      await expect(bodies.read('sc-removed', 130, digest)).rejects.toThrow(
        refusal('objects.missing'),
      );
      expect(Buffer.from(await bodies.read('sc-removed2', 0, kept)).toString()).toBe('kept');
      expect(await bodies.remove('sc-none', {})).toBe(false);
    });
  });
};
