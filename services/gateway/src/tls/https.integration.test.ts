import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { type Clock, ManualClock, systemClock } from '@keelson/clock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, TOKEN } from '../../test/stub-services.ts';
import { openCertificateFiles, openSelfIssuedCertificate } from '../compose.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-https-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Certificate and key from a separate issuer, valid for 90 days from the time of the clock. */
const issue = async (name: string, clock: Clock = systemClock) => {
  const issued = await openSelfIssuedCertificate({
    folder: join(folder, name),
    names: ['127.0.0.1'],
    clock,
  });
  issued.close();
  return issued.current();
};

/** Says one request over TLS, byte for byte, and returns the answer and the certificate shown. */
const converse = async (address: string, request: string) => {
  // The certificates are from test issuers; the test checks only which one is presented.
  const socket = connect({
    host: '127.0.0.1',
    port: Number(new URL(address).port),
    rejectUnauthorized: false,
  });
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    answer += text;
  });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerX509Certificate() as X509Certificate;
  socket.write(request);
  await once(socket, 'close');
  return { answer, fingerprint256 };
};

const listRequest = `LIST /v1/pki/echo HTTP/1.1\r\nhost: h\r\nx-service-token: ${TOKEN}\r\nconnection: close\r\n\r\n`;

describe('HTTPS with certificate files', () => {
  test('serves LIST, and shows a renewed certificate without a restart', async () => {
    const [first, second] = [await issue('first'), await issue('second')];
    const [certificateFile, keyFile] = [join(folder, 'server.pem'), join(folder, 'server.key')];
    await Promise.all([writeFile(certificateFile, first.cert), writeFile(keyFile, first.key)]);
    const files = await openCertificateFiles({
      certificateFile,
      keyFile,
      // Files that do not belong together are a step of the test.
      report: () => undefined,
    });
    const gateway = await startGateway({}, files);
    const shown = (certificate: { cert: string }) => ({
      answer: expect.stringContaining('"method":"LIST"') as unknown,
      fingerprint256: new X509Certificate(certificate.cert).fingerprint256,
    });
    try {
      expect(await converse(gateway.https, listRequest)).toEqual(shown(first));

      await writeFile(keyFile, second.key);
      await expect(files.reload()).rejects.toThrow('key');
      expect(await converse(gateway.https, listRequest)).toEqual(shown(first));

      await writeFile(certificateFile, second.cert);
      await files.reload();
      expect(await converse(gateway.https, listRequest)).toEqual(shown(second));
    } finally {
      await gateway.stop();
      files.close();
    }
  });
});

test('a certificate that ends soon is reported until it is replaced', async () => {
  const nearlyOver = new ManualClock(Date.now() - 85 * 86_400_000);
  const [ending, renewed] = [await issue('ending', nearlyOver), await issue('renewed')];
  const [certificateFile, keyFile] = [join(folder, 'ending.pem'), join(folder, 'ending.key')];
  await Promise.all([writeFile(certificateFile, ending.cert), writeFile(keyFile, ending.key)]);
  const files = await openCertificateFiles({ certificateFile, keyFile, report: () => undefined });
  const gateway = await startGateway({}, files);
  const report = async () => {
    const ready = (await (await fetch(`${gateway.http}/readyz`)).json()) as { impaired?: object };
    const metrics = await (await fetch(`${gateway.http}/metrics`)).text();
    const expiry = /^keelson_edge_certificate_expiry_timestamp_seconds\S* (\S+)/m.exec(
      metrics,
    )?.[1];
    const faults = /^keelson_edge_service_faults\{[^}]*"gateway"[^}]*\} (\d)/m.exec(metrics)?.[1];
    return { impaired: ready.impaired, expiryMs: Number(expiry) * 1000, faults };
  };
  const expiryOf = ({ cert }: { cert: string }) => new X509Certificate(cert).validToDate.getTime();
  try {
    expect(await report()).toEqual({
      impaired: {
        gateway: [expect.stringMatching(/^the certificate of HTTPS expires at .*: renew it/)],
      },
      expiryMs: expiryOf(ending),
      faults: '1',
    });
    await Promise.all([writeFile(certificateFile, renewed.cert), writeFile(keyFile, renewed.key)]);
    await files.reload();
    expect(await report()).toEqual({ expiryMs: expiryOf(renewed), faults: '0' });
  } finally {
    await gateway.stop();
    files.close();
  }
});

describe('plain HTTP on the HTTPS port', () => {
  test.for([
    ['GET /v1/sys/health HTTP/1.1\r\nhost: h\r\n\r\n', 'application/json'],
    ['GET /api/v2/ping HTTP/1.1\r\nhost: h\r\n\r\n', 'application/vnd.api+json'],
    [
      `POST /v1/sys/init HTTP/1.1\r\nhost: h\r\ncontent-length: 70000\r\n\r\n${'x'.repeat(70_000)}`,
      'application/json',
    ],
  ] as const)('is answered in words (%#)', async ([request, mediaType]) => {
    const own = await openSelfIssuedCertificate({
      folder: join(folder, 'plain'),
      names: ['127.0.0.1'],
      clock: systemClock,
    });
    const gateway = await startGateway({}, own);
    const socket = connectPlain(Number(new URL(gateway.https).port), '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
    });
    socket.write(request);
    await once(socket, 'end');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain(`Content-Type: ${mediaType}\r\n`);
    expect(answer).toContain('this port speaks HTTPS');
    await gateway.stop();
    own.close();
  });
});
