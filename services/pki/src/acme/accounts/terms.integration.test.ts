/** Terms of service: agreed to by new accounts, and again when they change (RFC 8555 §7.3, §7.3.3). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeAnswer, AcmeClient } from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

const TERMS = 'https://example.org/terms/1';
const LATER_TERMS = 'https://example.org/terms/2';

let acme: OpenAcme;
beforeAll(async () => {
  acme = await openAcme({ KEELSON_ACME_TERMS_OF_SERVICE: TERMS });
}, 60_000);
afterAll(() => acme.close());

const refusal = (answer: AcmeAnswer) => ({
  status: answer.status,
  type: answer.json.type,
  instance: answer.json.instance,
  links: answer.links('terms-of-service'),
});
const askedToAgree = (terms: string) => ({
  status: 403,
  type: 'urn:ietf:params:acme:error:userActionRequired',
  instance: terms,
  links: [terms],
});

/** The client before a service on the same store with other settings. */
const under = (client: AcmeClient, settings: Readonly<Record<string, string>>): AcmeClient => {
  const same = new AcmeClient(acme.pki.openReplica(settings), 'acme/', client.key);
  same.account = client.account;
  return same;
};

describe('a service with terms', () => {
  test('names them in its directories', async () => {
    const { json } = await acme.client().get('directory');
    expect(json.meta).toEqual({ externalAccountRequired: false, termsOfService: TERMS });
  });

  test.for([[{}], [{ termsOfServiceAgreed: false }]] as const)(
    'makes no account for %o',
    async ([payload]) => {
      const client = acme.client();
      expect(refusal(await client.register(payload))).toEqual(askedToAgree(TERMS));
      const found = await client.register({ onlyReturnExisting: true });
      expect(found.json.type).toBe('urn:ietf:params:acme:error:accountDoesNotExist');
    },
  );

  test('creates an account for a client that agrees, and finds it without agreement', async () => {
    const client = acme.client();
    const made = await client.register({ termsOfServiceAgreed: true });
    expect([made.status, made.json.termsOfServiceAgreed]).toEqual([201, true]);
    client.account = '';
    expect((await client.register()).status).toBe(200);
  });
});

describe('an account from before the terms', () => {
  const agreeing = async (): Promise<AcmeClient> => {
    const client = acme.client();
    await client.register({ termsOfServiceAgreed: true });
    return client;
  };

  test('may order as before if the new terms do not bind it', async () => {
    const later = under(await agreeing(), { KEELSON_ACME_TERMS_OF_SERVICE: LATER_TERMS });
    expect((await later.order('a.example.com')).status).toBe(201);
  });

  test('may not order before it agrees, if the terms bind it', async () => {
    const later = under(await agreeing(), {
      KEELSON_ACME_TERMS_OF_SERVICE: LATER_TERMS,
      KEELSON_ACME_TERMS_BIND_EXISTING: 'true',
    });
    expect(refusal(await later.order('a.example.com'))).toEqual(askedToAgree(LATER_TERMS));
    expect((await later.post('orders')).status).toBe(200);
    for (const payload of [{}, { termsOfServiceAgreed: false }, { contact: [] }])
      expect((await later.post(later.account, payload)).status).toBe(200);
    expect(refusal(await later.order('a.example.com'))).toEqual(askedToAgree(LATER_TERMS));
    const agreed = await later.post(later.account, { termsOfServiceAgreed: true });
    expect([agreed.status, agreed.json.termsOfServiceAgreed]).toEqual([200, true]);
    expect((await later.order('a.example.com')).status).toBe(201);
  });

  test('that never agreed is treated like one that agreed to former terms', async () => {
    const settings = {
      KEELSON_ACME_TERMS_OF_SERVICE: TERMS,
      KEELSON_ACME_TERMS_BIND_EXISTING: 'true',
    };
    const before = under(acme.client(), {});
    expect((await before.register()).json.termsOfServiceAgreed).toBe(false);
    const now = under(before, settings);
    expect(refusal(await now.order('a.example.com'))).toEqual(askedToAgree(TERMS));
    await now.post(now.account, { termsOfServiceAgreed: true });
    expect((await now.order('a.example.com')).status).toBe(201);
  });
});

test('without terms, an agreement has no effect (§7.3.2)', async () => {
  const client = under(acme.client(), {});
  await client.register();
  const changed = await client.post(client.account, { termsOfServiceAgreed: true });
  expect([changed.status, changed.json.termsOfServiceAgreed]).toEqual([200, false]);
});
