/** The challenges that are answered with TXT records, against a DNS server. */

import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type DnsServer, startDns } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anAttempt, KEY_AUTHORIZATION, someSettings } from '../../../test/acme-attempt.ts';
import { type ChallengeAttempt } from './challenge-attempt.ts';
import { validateChallenge } from './challenge-validation.ts';

const OWNER = '_acme-challenge.shop.example.com';
const DIGEST = createHash('sha256').update(KEY_AUTHORIZATION).digest('base64url');

let dns: DnsServer;
beforeEach(async () => {
  dns = await startDns();
});
afterEach(() => dns[Symbol.asyncDispose]());

const validate = (changes: Partial<ChallengeAttempt> = {}, dnsResolver = dns.address) =>
  validateChallenge(anAttempt({ type: 'dns-01', ...changes }), someSettings({ dnsResolver }));

describe('dns-01', () => {
  test('is proven by the record', async () => {
    dns.set(OWNER, 'TXT', [DIGEST]);
    expect(await validate()).toEqual({ kind: 'valid' });
    expect(dns.asked).toEqual([`TXT ${OWNER}`]);
  });

  test('is proven by one of several records', async () => {
    dns.set(OWNER, 'TXT', ['v=spf1 -all', DIGEST, 'older']);
    expect(await validate({ wildcard: true })).toEqual({ kind: 'valid' });
  });

  test('is proven by a record in several strings', async () => {
    dns.set(OWNER, 'TXT', [[DIGEST.slice(0, 10), DIGEST.slice(10)]]);
    expect(await validate()).toEqual({ kind: 'valid' });
  });

  test('is proven as soon as the record has changed', async () => {
    dns.set(OWNER, 'TXT', ['older']);
    expect(await validate()).toMatchObject({ kind: 'retry' });
    dns.set(OWNER, 'TXT', [DIGEST]);
    expect(await validate()).toEqual({ kind: 'valid' });
  });

  test('follows an alias that the server resolves', async () => {
    await using recursive = await startDns({ recursive: true });
    recursive.set(OWNER, 'CNAME', ['challenges.example.net']);
    recursive.set('challenges.example.net', 'TXT', [DIGEST]);
    expect(await validate({}, recursive.address)).toEqual({ kind: 'valid' });
  });

  test('follows aliases that the server does not resolve', async () => {
    dns.set(OWNER, 'CNAME', ['one.example.net']);
    dns.set('one.example.net', 'CNAME', ['two.example.net']);
    dns.set('two.example.net', 'TXT', [DIGEST]);
    expect(await validate()).toEqual({ kind: 'valid' });
  });

  test('stops following a cycle of aliases', async () => {
    dns.set(OWNER, 'CNAME', ['loop.example.net']);
    dns.set('loop.example.net', 'CNAME', [OWNER]);
    expect(await validate()).toEqual({
      kind: 'retry',
      problem: { type: 'dns', detail: `${OWNER} has more than 8 aliases` },
    });
    expect(dns.asked.length).toBeLessThan(30);
  });

  test('names the expected record when there is another, but does not show the other', async () => {
    dns.set(OWNER, 'TXT', ['s3cret']);
    expect(await validate()).toEqual({
      kind: 'retry',
      problem: {
        type: 'incorrectResponse',
        detail: `none of the 1 TXT records of ${OWNER} is "${DIGEST}"`,
      },
    });
  });

  test('is retried when there is no such name', async () => {
    expect(await validate()).toEqual({
      kind: 'retry',
      problem: { type: 'dns', detail: `${OWNER} has no TXT record` },
    });
  });

  test('is retried when the DNS server fails', async () => {
    dns.fail(OWNER);
    expect(await validate()).toEqual({
      kind: 'retry',
      problem: { type: 'dns', detail: `looking up TXT records of ${OWNER}: ESERVFAIL` },
    });
  });

  test('waits for a slow answer even after quick ones', async () => {
    dns.set(OWNER, 'TXT', [DIGEST]);
    let unanswered = 0;
    const relay = createSocket('udp4').bind(0, '127.0.0.1');
    const upstream = createSocket('udp4').bind(0, '127.0.0.1');
    const ports = new Map<number, number>();
    relay.on('message', (question, { port }) => {
      ports.set(question.readUInt16BE(0), port);
      if (unanswered > 0) unanswered -= 1;
      else upstream.send(question, dns.port, '127.0.0.1');
    });
    upstream.on('message', (answer) =>
      relay.send(answer, ports.get(answer.readUInt16BE(0)) ?? 0, '127.0.0.1'),
    );
    await Promise.all([once(relay, 'listening'), once(upstream, 'listening')]);
    const address = `127.0.0.1:${relay.address().port}`;
    for (let quick = 0; quick < 10; quick += 1)
      expect(await validate({}, address)).toEqual({ kind: 'valid' });
    // The number of queries that one resolver makes before it gives up.
    unanswered = 2;
    expect(await validate({}, address)).toEqual({ kind: 'valid' });
    relay.close();
    upstream.close();
  });

  test('ends at its time limit when the DNS server does not answer', async () => {
    const silent = createSocket('udp4').bind(0, '127.0.0.1');
    await once(silent, 'listening');
    const settings = someSettings({
      dnsResolver: `127.0.0.1:${silent.address().port}`,
      timeoutsMs: { connect: 600_000, attempt: 200 },
    });
    expect(await validateChallenge(anAttempt({ type: 'dns-01' }), settings)).toEqual({
      kind: 'retry',
      problem: { type: 'connection', detail: 'dns-01 was not answered within 0.2 s' },
    });
    silent.close();
  });
});

describe('dns-account-01', () => {
  const LABELLED = '_ujmmovf2vn55tgye._acme-challenge.shop.example.com';

  test('is proven below the label of the account', async () => {
    dns.set(LABELLED, 'TXT', [DIGEST]);
    expect(await validate({ type: 'dns-account-01' })).toEqual({ kind: 'valid' });
  });

  test('is not proven for another account', async () => {
    dns.set(LABELLED, 'TXT', [DIGEST]);
    const accountUrl = 'https://example.com/acme/acct/Another';
    expect(await validate({ type: 'dns-account-01', accountUrl })).toMatchObject({
      kind: 'retry',
      problem: { type: 'dns' },
    });
  });
});
