/** Policy services for tests: the reference one, and one with answers set by the test. */

import { createPrivateKey } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Rules, startPolicyServer } from '@keelson/policy-service';
import {
  type CertificateFields,
  chooseSignatureScheme,
  createCertificate,
  createKeyPair,
  createSigner,
  decodePem,
  describeKey,
  encodeName,
  encodePem,
  parseCsr,
  toDistinguishedName,
} from '@keelson/x509';
import { type Mounts, newRequest, openMounts, other } from './open-mounts.ts';

/** Certificates of a CA that vouches for both ends, from another mount. */
export const openTrust = async (mounts: Mounts) => {
  const { post } = mounts;
  const ca = await mounts.root('Services', other);
  await post(
    'roles/service',
    { allow_any_name: true, enforce_hostnames: false, allow_localhost: true, key_type: 'ec' },
    other,
  );
  const issue = async (body: object): Promise<{ certificate: string; key: string }> => {
    const { data } = await post('issue/service', { ttl: '24h', ...body }, other);
    return { certificate: data.certificate, key: data.private_key };
  };
  return {
    ca: ca.certificate as string,
    issue,
    server: await issue({ common_name: 'localhost', ip_sans: '127.0.0.1' }),
    client: await issue({ common_name: 'keelson pki' }),
  };
};

type Trust = Awaited<ReturnType<typeof openTrust>>;

/** Mounts, the first with an issuer `main`, and who vouches for policy services. */
export const openPolicyMounts = async () => {
  const mounts = await openMounts();
  const trust = await openTrust(mounts);
  const issuer: Document = await mounts.root('Root', undefined, {
    issuer_name: 'main',
    // Less than the maximum of the mount.
    ttl: '80000h',
  });
  const config = (body: object, mount = mounts.pki.mount) =>
    mounts.pki.call('POST', 'config/external-policy', body, { mount });
  return { mounts, trust, issuer, config };
};

export const openReferenceService = async (trust: Trust, rules: Rules, nowMs: () => number) => {
  const server = await startPolicyServer({
    rules,
    ...trust.server,
    callerAuthorities: trust.ca,
    address: '127.0.0.1',
    port: 0,
    nowMs,
  });
  return { url: `https://localhost:${server.port}/evaluate`, close: () => server.close() };
};

// oxlint-disable-next-line typescript/no-explicit-any -- documents are asserted on, not typed
export type Document = any;

export interface Scripted {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Answers each request with the result of `say`, and records every request. */
export const openScriptedService = async (
  trust: Trust,
  say: { current: (question: Document) => Promise<Scripted> | Scripted },
  tls: { readonly certificate: string; readonly key: string } = trust.server,
) => {
  const questions: Document[] = [];
  const texts: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const question = { ...JSON.parse(text), headers: request.headers };
    texts.push(text);
    questions.push(question);
    const { status = 200, headers = {}, body } = await say.current(question);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const server: Server = createServer(
    { cert: tls.certificate, key: tls.key, ca: trust.ca, requestCert: true },
    (request, response) => {
      answer(request, response).catch(() => response.destroy());
    },
  );
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}/decide`,
    port,
    questions,
    texts,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const template = await createKeyPair({ type: 'ec', bits: 256 });
const templateKey = createPrivateKey({
  key: Buffer.from(template.privateKeyDer),
  format: 'der',
  type: 'pkcs8',
});

/** A template for the key of the request's CSR, with the changes of a test. */
export const templateFor = async (
  question: Document,
  nowMs: number,
  changes: Partial<CertificateFields> = {},
): Promise<string> => {
  const [block] = decodePem(question.user_request_key_values.csr);
  const { publicKeyDer } = parseCsr(block?.der ?? new Uint8Array(0));
  const subject = encodeName(toDistinguishedName({ commonName: 'leaf.example.com' }));
  const fields: CertificateFields = {
    serialNumber: Uint8Array.of(2),
    issuer: subject,
    subject,
    notBeforeMs: nowMs - 60_000,
    notAfterMs: nowMs + 3_600_000,
    publicKeyDer,
    extensions: [],
    ...changes,
  };
  const signer = createSigner(templateKey, chooseSignatureScheme(describeKey(templateKey)));
  return encodePem('CERTIFICATE', await createCertificate(fields, signer));
};

/** A new request for a P-256 key, PEM. */
export const newCsr = (mounts: Mounts, commonName: string): string =>
  newRequest(mounts, `/CN=${commonName}`);
