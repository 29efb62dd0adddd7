/** SIGHUP reopens log and audit files that were moved, and reloads a certificate that was replaced. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, watch, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { systemClock } from '@keelson/clock';
import { openSelfIssuedCertificate } from '@keelson/gateway-service';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
const at = (name: string): string => join(folder.path, name);

/** A certificate of a private CA, in the configured files. */
const exchangeCertificate = async (name: string): Promise<string> => {
  const source = await openSelfIssuedCertificate({
    folder: at(name),
    names: ['localhost'],
    clock: systemClock,
  });
  const { cert, key } = source.current();
  source.close();
  writeFileSync(at('server.pem'), cert);
  writeFileSync(at('server.key'), key, { mode: 0o600 });
  return new X509Certificate(cert).fingerprint256;
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  await exchangeCertificate('first');
  keelson = await startKeelson({
    dataFolder: at('data'),
    env: {
      KEELSON_TLS_CERTIFICATE_FILE: at('server.pem'),
      KEELSON_TLS_KEY_FILE: at('server.key'),
    },
  });
});
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

const v1 = async (path: string, body?: object): Promise<number> => {
  const { status } = await fetch(`${keelson.http}/v1/${path}`, {
    method: body === undefined ? 'GET' : 'PUT',
    headers: { 'x-service-token': keelson.rootToken },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return status;
};

const shownFingerprint = async (): Promise<string> => {
  const { port } = new URL(keelson.https);
  const socket = connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerX509Certificate() as X509Certificate;
  socket.destroy();
  return fingerprint256;
};

/** Resolves when a file below the data folder has the text. */
const appears = (name: string, text: string): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (!existsSync(name) || !readFileSync(name, 'utf8').includes(text)) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(at('data'), look);
    look();
  });

test('moved files are closed, and open requests are answered', async () => {
  const log = join(at('data'), 'keelson.log');
  expect(
    await v1('sys/audit/file', { type: 'file', options: { file_path: at('audit.log') } }),
  ).toBe(204);
  expect(await v1('sys/mounts')).toBe(200);
  const underWay = httpRequest(`${keelson.http}/v1/sys/wrapping/wrap`, {
    method: 'POST',
    agent: new Agent(),
    headers: { 'x-service-token': keelson.rootToken, 'x-service-wrap-ttl': '60' },
  });
  underWay.write('{"a":');

  renameSync(log, `${log}.1`);
  renameSync(at('audit.log'), at('audit.log.1'));
  const fingerprint = await exchangeCertificate('second');
  process.kill(keelson.pid, 'SIGHUP');
  await appears(log, '"msg":"reloaded"');

  underWay.end('1}');
  const [answer] = (await once(underWay, 'response')) as [{ statusCode: number; resume(): void }];
  answer.resume();
  expect(answer.statusCode).toBe(200);
  expect(await v1('sys/policies/acl/after-rotation')).toBe(404);
  expect(readFileSync(at('audit.log'), 'utf8')).toContain('after-rotation');
  expect(readFileSync(at('audit.log.1'), 'utf8')).not.toContain('after-rotation');
  expect(await shownFingerprint()).toBe(fingerprint);

  // Twice, as scripts for several files do, and with files that cannot be used.
  writeFileSync(at('server.key'), 'no key');
  renameSync(log, `${log}.2`);
  process.kill(keelson.pid, 'SIGHUP');
  await appears(log, '"msg":"reloaded"');
  expect(readFileSync(log, 'utf8')).toContain('the certificate in use stays');
  expect(await shownFingerprint()).toBe(fingerprint);
});
