import { gunzipSync, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { archiveOf } from '../../../test/configuration-archive.ts';
import { findReadme } from './readme-reader.ts';

async function* inPieces(bytes: Buffer, size = 100): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const find = async (files: Readonly<Record<string, string | Buffer>>, folder = '') =>
  findReadme(inPieces(await archiveOf(files)), folder);

describe('the README of a configuration', () => {
  test.for([
    ['README.md', ''],
    ['./README.md', ''],
    ['Readme.MD', ''],
    ['live/app/README.md', 'live/app'],
    ['./live/README.md', './live/'],
    ['README.md//', ''],
  ] as const)('is found at %s for the working directory "%s"', async ([name, folder]) => {
    const files = { 'main.tf': '# x', [name]: '# Hallo, Wörld', 'z.tf': '' };
    expect(await find(files, folder)).toBe('# Hallo, Wörld');
  });

  test('is not taken from another folder', async () => {
    expect(await find({ 'modules/README.md': 'x', 'README.txt': 'x' })).toBeNull();
    expect(await find({ 'README.md': 'x' }, 'live')).toBeNull();
  });

  test('is found behind a file with very many slashes in its name', async () => {
    const packed = pack();
    // The name in an extended header, which tar uses for long names.
    packed.entry({ name: 'a', pax: { path: `a${'/'.repeat(500_000)}b` } }, '');
    packed.entry({ name: 'README.md' }, 'x');
    packed.finalize();
    const pieces: Buffer[] = [];
    for await (const piece of packed) pieces.push(piece as Buffer);
    expect(await findReadme(inPieces(gzipSync(Buffer.concat(pieces))), '')).toBe('x');
  });

  test('is truncated if it is too long, between characters', async () => {
    const text = `x${'ä'.repeat(40_000)}`;
    expect(await find({ 'README.md': text })).toBe(`x${'ä'.repeat(32_767)}`);
  });

  test('is not read from files that are no archive or exceed the limits', async () => {
    expect(await findReadme(inPieces(Buffer.from('plain')), '')).toBeNull();
    expect(await findReadme(inPieces(gzipSync('not a tar file')), '')).toBeNull();
    const whole = await archiveOf({ 'README.md': 'x'.repeat(5000) });
    expect(await findReadme(inPieces(whole.subarray(0, 40)), '')).toBeNull();
    const entry = gunzipSync(await archiveOf({ 'a.tf': '' })).subarray(0, 512);
    const many = Array.from({ length: 66_000 }, () => entry);
    const behind = gunzipSync(await archiveOf({ 'readme.md': 'x' }));
    const packed = (entries: readonly Buffer[]) =>
      inPieces(gzipSync(Buffer.concat([...entries, behind])), 65_536);
    expect(await findReadme(packed(many.slice(0, 1000)), '')).toBe('x');
    expect(await findReadme(packed(many), '')).toBeNull();
    const large = { 'a.bin': Buffer.alloc(33 * 1024 * 1024), 'readme.md': 'x' };
    expect(await findReadme(inPieces(await archiveOf(large), 65_536), '')).toBeNull();
  });
});
