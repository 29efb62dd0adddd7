import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, connect as tlsConnect } from 'node:tls';
import { ManualClock } from '@keelson/clock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSelfIssuedCertificate } from './self-issued-certificate.ts';

const DAY_MS = 86_400_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-tls-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (clock = new ManualClock(Date.now())) =>
  openSelfIssuedCertificate({ folder, names: ['localhost', '127.0.0.1'], clock });

describe('self-issued certificate', () => {
  test('is accepted by a TLS client that trusts the authority file', async () => {
    const source = await open();
    const server = createServer(source.current(), (socket) => socket.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const authorized = await new Promise<boolean>((resolve, reject) => {
      const socket = tlsConnect({
        port,
        host: '127.0.0.1',
        servername: 'localhost',
        ca: readFileSync(source.authorityFile),
      });
      socket.once('secureConnect', () => {
        resolve(socket.authorized);
        socket.end();
      });
      socket.once('error', reject);
    });
    expect(authorized).toBe(true);
    source.close();
    await new Promise((resolve) => server.close(resolve));
  });

  test('keeps the authority over restarts and its key to the owner alone', async () => {
    (await open()).close();
    const before = readFileSync(join(folder, 'ca.pem'), 'utf8');
    (await open()).close();
    expect(readFileSync(join(folder, 'ca.pem'), 'utf8')).toBe(before);
    expect(statSync(join(folder, 'ca-key.pem')).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).sort()).toEqual(['ca-key.pem', 'ca.pem']);
  });

  test.for(['ca.pem', 'ca-key.pem'])('names a damaged %s, and the remedy', async (name) => {
    (await open()).close();
    const file = join(folder, name);
    const whole = readFileSync(file, 'utf8');
    for (const damaged of ['', 'no PEM', whole.replace('MI', 'XX')]) {
      writeFileSync(file, damaged);
      await expect(open()).rejects.toThrow(`${file} cannot be used (`);
      await expect(open()).rejects.toThrow('). Put it back from a copy; or remove ');
    }
    writeFileSync(file, whole);
    (await open()).close();
  });

  test('is renewed when two thirds of its life have passed', async () => {
    const clock = new ManualClock(Date.now());
    const source = await open(clock);
    const first = new X509Certificate(source.current().cert);
    const renewed = new Promise<string>((resolve) => {
      source.onRenewal(({ cert }) => resolve(cert));
    });
    const notEarly: number[] = [];
    source.onRenewal(() => notEarly.push(clock.nowMs()));
    for (let day = 0; day < 60; day++) {
      expect(notEarly).toEqual([]);
      clock.advance(DAY_MS);
      // The daily check ends in a microtask, which then schedules the next one.
      await new Promise(setImmediate);
    }
    const second = new X509Certificate(await renewed);
    expect(second.serialNumber).not.toBe(first.serialNumber);
    expect(second.validToDate.getTime() - first.validToDate.getTime()).toBe(60 * DAY_MS);
    source.close();
  });
});
