import { generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { toAuthorization, toSignatureBase } from './request-signature.ts';

describe('the text that is signed', () => {
  test('is built as in the example of RFC 5849 §3.4.1.1', () => {
    const base = toSignatureBase(
      { method: 'POST', url: 'http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b' },
      {
        oauth_consumer_key: '9djdj82h48djs9d2',
        oauth_token: 'kkk9d7dh3k39sjv7',
        oauth_signature_method: 'HMAC-SHA1',
        oauth_timestamp: '137131201',
        oauth_nonce: '7d8f3e4a',
        c2: '',
      },
    );
    expect(base).toBe(
      'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7',
    );
  });

  test('sorts values of one name and encodes what URLs may leave as it is', () => {
    expect(
      toSignatureBase({ method: 'GET', url: "https://a.example/x?a=2&a=1&b=it's(*)!" }, {}),
    ).toBe('GET&https%3A%2F%2Fa.example%2Fx&a%3D1%26a%3D2%26b%3Dit%2527s%2528%252A%2529%2521');
  });
});

test('a request is authorized by a signature that its public key verifies', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const request = { method: 'GET', url: 'https://bitbucket.example/rest?limit=1' } as const;
  const header = toAuthorization({ consumerKey: 'key one', privateKey }, 'token', request, {
    oauth_verifier: 'code',
  });
  const sent = Object.fromEntries(
    [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      decodeURIComponent(value),
    ]),
  );
  const { oauth_signature: signature = '', ...parameters } = sent;
  expect(parameters).toMatchObject({
    oauth_consumer_key: 'key one',
    oauth_token: 'token',
    oauth_verifier: 'code',
    oauth_signature_method: 'RSA-SHA1',
  });
  const base = Buffer.from(toSignatureBase(request, parameters));
  expect(verify('RSA-SHA1', base, publicKey, Buffer.from(signature, 'base64'))).toBe(true);
});
