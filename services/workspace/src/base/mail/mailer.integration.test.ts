import { startMailServer } from '@keelson/testkit';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createMailer, mailFailure } from './mailer.ts';

/** A server that offers no STARTTLS, like one whose offer somebody on the way has taken out. */
const server = await startMailServer();
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.mails.length = 0;
});

/** The address 127.0.0.1, spelled as a host of which nothing is known. */
const elsewhere = server.url.replace('127.0.0.1', '2130706433');

test.for([
  ['on loopback is sent without TLS', server.url, false, undefined],
  ['elsewhere is not sent without TLS', elsewhere, false, 'ETLS'],
  ['elsewhere is sent without TLS where the setting allows it', elsewhere, true, undefined],
] as const)('mail to a server %s', async ([, url, mayBeUnencrypted, failure]) => {
  const mailer = createMailer({ url, from: 'k@k.example', mayBeUnencrypted, timeoutMs: 10_000 });
  const mail = { to: ['a@b.example'], subject: 'subject', text: 'text' };
  const outcome = await mailer.send(mail).then(() => undefined, mailFailure);
  expect([outcome, server.mails.length]).toEqual([failure, failure === undefined ? 1 : 0]);
});
