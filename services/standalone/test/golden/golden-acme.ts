/** ACME clients with a certificate, and with a challenge that is tried again. */
import { createHash, createPrivateKey } from 'node:crypto';
import { AcmeSession, startDns } from '@keelson/testkit';
import { until } from '@keelson/testkit/addressed-cluster';
import {
  chooseSignatureScheme,
  createCsr,
  createKeyPair,
  createSigner,
  encodeName,
  subjectAltName,
} from '@keelson/x509';
import { type GoldenCalls, type GoldenRead, reads } from './golden-calls.ts';

const createRequest = async (value: string): Promise<string> => {
  const pair = await createKeyPair({ type: 'ec', bits: 256 });
  const key = Buffer.from(pair.privateKeyDer);
  const signer = createSigner(
    createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
    chooseSignatureScheme(pair.algorithm),
  );
  const extensions = [subjectAltName([{ kind: 'dns', value }])];
  const fields = { subject: encodeName([]), publicKeyDer: pair.publicKeyDer, extensions };
  return Buffer.from(await createCsr(fields, signer)).toString('base64url');
};

/** Orders a certificate for a name. @returns the order, its authorization and the challenge with a DNS record */
const order = async (session: AcmeSession, value: string) => {
  const ordered = await session.post('newOrder', { identifiers: [{ type: 'dns', value }] });
  const [authorization] = ordered.json.authorizations as [string];
  const { challenges } = (await session.post(authorization)).json;
  const challenge = challenges.find(({ type }: { type: string }) => type === 'dns-01');
  return { ordered, authorization, challenge };
};

/** @param path of the mount, which is its address */
export const makeAcmeOrders = async (
  { v1 }: GoldenCalls,
  path: string,
): Promise<readonly GoldenRead[]> => {
  await using dns = await startDns();
  await v1('POST', 'pki/config/acme', { enabled: true, dns_resolver: dns.address });
  await v1('POST', 'pki/acme/new-eab');
  const session = await AcmeSession.open({ directory: `${path}/acme/directory`, connections: 1 });
  const untilValid = (url: string) =>
    until(
      async () => (await session.post(url)).json.status,
      (status) => status === 'valid',
    );
  const name = 'acme.example.com';
  const { ordered, authorization, challenge } = await order(session, name);
  const proof = createHash('sha256').update(session.keyAuthorization(challenge.token));
  dns.set(`_acme-challenge.${name}`, 'TXT', [proof.digest('base64url')]);
  await session.post(challenge.url, {});
  await untilValid(authorization);
  await session.post(ordered.json.finalize, { csr: await createRequest(name) });
  await untilValid(ordered.location);
  const waiting = await order(session, 'waiting.example.com');
  await session.post(waiting.challenge.url, {});
  await session.close();
  return [
    ...reads('v1', 'LIST', ['pki/eab', 'pki/acme/mgmt/account/keyid']),
    ...reads('v1', 'GET', ['pki/config/acme']),
  ];
};
