import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenAcme, openAcme } from '../../test/open-acme.ts';

let acme: OpenAcme;
beforeAll(async () => {
  acme = await openAcme();
}, 60_000);
afterAll(() => acme.close());

test('an order is proven by http-01 and becomes a certificate with its chain', async () => {
  const client = acme.client();
  const { certificate, order, finalized, url } = await acme.obtain(
    client,
    'localhost',
    '127.0.0.1',
  );
  expect(order.status).toBe(201);
  expect(finalized.header('location')).toBe(url);
  expect(certificate.header('content-type')).toBe('application/pem-certificate-chain');
  const [leaf = '', root = '', ...rest] = certificate.bytes
    .toString()
    .split(/(?<=-----END CERTIFICATE-----\n)/);
  expect(rest).toEqual([]);
  const parsed = new X509Certificate(leaf);
  expect(parsed.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1');
  expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(parsed.verify(new X509Certificate(root).publicKey)).toBe(true);
});
