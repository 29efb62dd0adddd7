/** Administration of ACME accounts: listing, orders, closing and opening again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AcmeClient } from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

let acme: OpenAcme;
beforeAll(async () => {
  acme = await openAcme();
}, 60_000);
afterAll(() => acme.close());

const ACCOUNTS = 'acme/mgmt/account/keyid';
const idOf = (client: AcmeClient): string => client.account.split('/').at(-1) ?? '';

describe('the accounts of a mount', () => {
  test('are listed with contacts and state, and read with their orders', async () => {
    expect((await acme.pki.call('LIST', ACCOUNTS)).status).toBe(404);
    const client = acme.client();
    await client.register({ contact: ['mailto:ops@example.org'] });
    await client.order('localhost');
    const { certificate } = await acme.obtain(client, 'localhost');
    expect(certificate.status).toBe(200);
    const id = idOf(client);
    const listed = await acme.pki.call('LIST', ACCOUNTS);
    expect(listed.json.data).toEqual({
      keys: [id],
      key_info: {
        [id]: {
          status: 'valid',
          contacts: ['mailto:ops@example.org'],
          created_time: expect.stringMatching(/^\d{4}-/),
          revoked_time: '',
          directory: 'acme/',
          eab: {},
        },
      },
    });
    const { data } = await acme.pki.call('GET', `${ACCOUNTS}/${id}`);
    expect(data).toMatchObject({ key_id: id, status: 'valid' });
    expect(data.orders).toHaveLength(2);
    // Both were made at the same time.
    expect(data.orders).toEqual(
      expect.arrayContaining([
        {
          order_id: expect.any(String),
          status: 'valid',
          identifiers: ['localhost'],
          cert_serial_number: expect.stringMatching(/^[0-9a-f]{2}(:[0-9a-f]{2})+$/),
          cert_expiry: expect.stringMatching(/^\d{4}-/),
          order_expiry: expect.stringMatching(/^\d{4}-/),
        },
        expect.objectContaining({ status: 'pending', cert_serial_number: '', cert_expiry: '' }),
      ]),
    );
  });

  test('are read page by page', async () => {
    await acme.client().register();
    await acme.client().register();
    const all = (await acme.pki.call('LIST', ACCOUNTS)).json.data.keys as readonly string[];
    const first = await acme.pki.call('LIST', `${ACCOUNTS}?limit=1`);
    expect(first.json.data.keys).toEqual(all.slice(0, 1));
    const rest = await acme.pki.call('LIST', `${ACCOUNTS}?after=${all[0]}`);
    expect(rest.json.data.keys).toEqual(all.slice(1));
  });
});

describe('the status of an account', () => {
  test('revoked refuses the client, and valid serves it again', async () => {
    const client = acme.client();
    await client.register();
    const path = `${ACCOUNTS}/${idOf(client)}`;
    const closed = await acme.pki.call('POST', path, { status: 'revoked' });
    expect(closed.json.data).toMatchObject({
      status: 'revoked',
      revoked_time: expect.stringMatching(/^\d{4}-/),
    });
    const refused = await client.order('localhost');
    expect([refused.status, refused.json.type]).toEqual([
      401,
      'urn:ietf:params:acme:error:unauthorized',
    ]);
    const opened = await acme.pki.call('POST', path, { status: 'valid' });
    expect(opened.json.data).toMatchObject({ status: 'valid', revoked_time: '' });
    expect((await client.order('localhost')).status).toBe(201);
  });

  test('stays deactivated once its owner has closed it', async () => {
    const client = acme.client();
    await client.register();
    await client.post(client.account, { status: 'deactivated' });
    const refused = await acme.pki.call('POST', `${ACCOUNTS}/${idOf(client)}`, { status: 'valid' });
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      ['the owner of the account has deactivated it, which is final'],
    ]);
  });

  test.for(['', 'deactivated', 'VALID'])('"%s" is refused', async (status) => {
    const client = acme.client();
    await client.register();
    const refused = await acme.pki.call('POST', `${ACCOUNTS}/${idOf(client)}`, { status });
    expect([refused.status, refused.json.errors[0]]).toEqual([
      400,
      expect.stringContaining('status'),
    ]);
  });

  test('of an unknown account is 404', async () => {
    for (const [method, body] of [['GET'], ['POST', { status: 'revoked' }]] as const)
      expect((await acme.pki.call(method, `${ACCOUNTS}/unknown`, body)).status).toBe(404);
  });
});
