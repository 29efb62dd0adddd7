/** Passkeys as second factors, in Chromium with a virtual authenticator. */
import type { Page } from '@keelson/testkit/chromium';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();

const PASSWORD = 'correct horse';
const METHODS = 'identity/mfa/method/webauthn';
const POLICY = `path "${METHODS}/own" { capabilities = ["read"] }
path "${METHODS}/own/*" { capabilities = ["update"] }`;

/** Browsers have passkeys for names of hosts only. */
const origin = (): string => site.origin().replace('127.0.0.1', 'localhost');

interface Authenticator {
  readonly remove: () => Promise<void>;
}

/** Plugs in a device with which the person of the page is verified at once. */
const addAuthenticator = async (page: Page): Promise<Authenticator> => {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'usb',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    remove: async () => {
      await devTools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    },
  };
};

const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { name, level: 1 }).waitFor();

const fillPassword = async (page: Page, name: string): Promise<void> => {
  const form = page.getByRole('form', { name: 'Sign in with a password' });
  await form.getByLabel('User name').fill(name);
  await form.getByLabel('Password').fill(PASSWORD);
  await form.getByRole('button', { name: 'Sign in' }).click();
};

/** Opens the page of passkeys, and signs in. */
const openFor = async (name: string): Promise<Page> => {
  const { page } = await site.open();
  await page.goto(`${origin()}/ui/passkeys`);
  await fillPassword(page, name);
  return page;
};

const addPasskey = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
  await dialog.getByLabel('Name by which you know it').fill(name);
  await dialog.getByRole('button', { name: 'Go on in the browser' }).click();
};

let methodId: string;
let idOfGrace: string;

/** Makes the logins of people wait for one of the methods. */
const ask = (methodIds: readonly string[], entityIds: readonly string[]) =>
  site.secrets('identity/mfa/login-enforcement/people', {
    mfa_method_ids: methodIds,
    identity_entity_ids: entityIds,
  });

const logIn = async (name: string): Promise<string> => {
  const answer = await fetch(`${site.origin()}/v1/auth/people/login/${name}`, {
    method: 'POST',
    body: JSON.stringify({ password: PASSWORD }),
  });
  const { auth } = (await answer.json()) as { readonly auth: { readonly entity_id: string } };
  return auth.entity_id;
};

beforeAll(async () => {
  await site.secrets('sys/auth/people', {
    type: 'userpass',
    description: 'the people of the team',
    config: { listing_visibility: 'unauth' },
  });
  await site.secrets('sys/policies/acl/own-passkeys', { policy: POLICY });
  for (const name of ['ada', 'grace', 'joan'])
    await site.secrets(`auth/people/users/${name}`, {
      password: PASSWORD,
      ...(name !== 'joan' && { token_policies: ['own-passkeys'] }),
    });
}, PATIENCE_MS);

describe('passkeys', { timeout: PATIENCE_MS }, () => {
  test('are offered by nobody before a method is made, and need a policy', async () => {
    const page = await openFor('ada');
    await page.getByText('No login of this namespace asks for passkeys.').waitFor();
    const other = await openFor('joan');
    await other.getByText('Your policies give no access to').waitFor();
    for (const one of [page, other])
      expect(await one.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0);
    const made = await site.secrets(METHODS, {
      method_name: 'passkeys of the team',
      relying_party_origins: origin(),
    });
    ({ method_id: methodId } = made.data as { readonly method_id: string });
  });

  test('are added, sign in after the password, are renamed, and removed with one of them', async () => {
    const entityId = await logIn('ada');
    const page = await openFor('ada');
    await addAuthenticator(page);
    await page.getByText('You have no passkey yet.').waitFor();
    await addPasskey(page, 'work phone');
    await page.getByRole('button', { name: 'Rename work phone' }).waitFor();
    expect(await faultsInVariants(page, 'passkeys')).toEqual({});
    await ask([methodId], [entityId]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await fillPassword(page, 'ada');
    await page.getByText('Your browser asks for your passkey').waitFor();
    expect(await faultsInVariants(page, 'passkey as second factor')).toEqual({});
    await page.getByRole('button', { name: 'Use my passkey' }).click();
    await heading(page, 'Passkeys');
    await page.getByText('people-ada').waitFor();
    expect(await page.getByText('never here').count()).toBe(0);
    await page.getByRole('button', { name: 'Rename work phone' }).click();
    await page.getByLabel('Name by which you know it').fill('old phone');
    await page.getByRole('button', { name: 'Rename it' }).click();
    await page.getByRole('button', { name: 'Rename old phone' }).waitFor();
    // The device makes no second one.
    await addPasskey(page, 'again');
    await page.getByText('This device has a passkey for you already.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Remove old phone' }).click();
    await page.getByRole('button', { name: 'Remove it' }).click();
    await page.getByText('You have no passkey yet.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await fillPassword(page, 'ada');
    await page.getByText('You have no passkey, and cannot go on without one.').waitFor();
    expect(await page.getByRole('button', { name: 'Sign in', exact: true }).isDisabled()).toBe(
      true,
    );
  });

  test('that are not there are told of, and an app is used in their place', async () => {
    const entityId = await logIn('grace');
    idOfGrace = entityId;
    const page = await openFor('grace');
    const device = await addAuthenticator(page);
    await addPasskey(page, 'key');
    await page.getByRole('button', { name: 'Rename key' }).waitFor();
    const app = await site.secrets('identity/mfa/method/totp', {
      issuer: 'Keelson',
      method_name: 'the app',
    });
    await ask([methodId, (app.data as { readonly method_id: string }).method_id], [entityId]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await device.remove();
    // Another device, which does not know her.
    await addAuthenticator(page);
    await fillPassword(page, 'grace');
    await page.getByRole('button', { name: 'Use my passkey' }).click();
    await page.getByText('No passkey was used:').waitFor();
    expect(await faultsInVariants(page, 'passkey that is gone')).toEqual({});
    await page.getByLabel('Authenticator').selectOption('the app');
    await page.getByLabel('Passcode').fill('000000');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('the entity has no key').waitFor();
  });

  test('are of no use at another address, which the page says', async () => {
    const { page } = await site.open();
    await page.goto(`${site.origin()}/ui/passkeys`);
    await fillPassword(page, 'grace');
    await addAuthenticator(page);
    await page.getByRole('button', { name: 'Use my passkey' }).click();
    const text = await page.getByRole('alert').textContent();
    expect(text).toContain('are bound to localhost, and this page is at 127.0.0.1');
  });

  test('of somebody who has lost them are removed by an administrator', async () => {
    const passkeysOfGrace = async () =>
      (await site.readSecret(`${METHODS}/entity/${idOfGrace}`)).data['passkeys'];
    expect(await passkeysOfGrace()).toHaveLength(1);
    const { page, problems } = await site.openSignedIn('/ui/second-factors');
    const remove = async (name: string): Promise<void> => {
      const label = 'Remove from a person: passkeys of the team';
      await page.getByRole('button', { name: label }).click();
      await page.getByLabel('User name').fill(name);
      await page.getByLabel('Signs in by').selectOption('people/ (userpass)');
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    };
    await remove('nobody');
    await page.getByText('Nobody has signed in there as "nobody".').waitFor();
    expect(await faultsInVariants(page, 'lost passkey')).toEqual({});
    await page.getByRole('button', { name: 'Cancel' }).click();
    await remove('grace');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await passkeysOfGrace()).toEqual([]);
    expect(problems).toEqual([]);
  });
});

describe('second factors', { timeout: PATIENCE_MS }, () => {
  test('are asked of the logins that an administrator names, and of none once that has ended', async () => {
    const { page, problems } = await site.openSignedIn('/ui/second-factors');
    const add = async (fields: Readonly<Record<string, string>>): Promise<void> => {
      await page.getByRole('button', { name: 'Add a method' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add a method' });
      for (const [label, text] of Object.entries(fields)) {
        const field = dialog.getByLabel(label);
        if (label === 'It asks for') await field.selectOption(text);
        else await field.fill(text);
      }
      await dialog.getByRole('button', { name: 'Add it' }).click();
      await dialog.waitFor({ state: 'hidden' });
    };
    await add({ 'Name, by which': 'keys of all', 'Addresses of the console': origin() });
    await add({ 'It asks for': 'passcodes of an app', 'Name, by which': 'app of all' });
    for (const name of ['keys of all', 'app of all'])
      await page.getByRole('button', { name: `Delete ${name}` }).waitFor();
    await page.getByRole('button', { name: 'Add an enforcement' }).click();
    await page.getByLabel('Name', { exact: true }).fill('everybody');
    for (const label of ['keys of all', 'app of all', 'people/ (userpass)'])
      await page.getByRole('checkbox', { name: label }).check();
    expect(await faultsInVariants(page, 'new login enforcement')).toEqual({});
    await page.getByRole('button', { name: 'Ask for it from now on' }).click();
    await page.getByRole('button', { name: 'Delete everybody' }).waitFor();
    expect(await faultsInVariants(page, 'second factors')).toEqual({});
    expect(
      await page
        .getByText('app of all, keys of all')
        .or(page.getByText('keys of all, app of all'))
        .count(),
    ).toBe(1);
    const waits = await fetch(`${site.origin()}/v1/auth/people/login/joan`, {
      method: 'POST',
      body: JSON.stringify({ password: PASSWORD }),
    });
    const { auth } = (await waits.json()) as {
      readonly auth: { readonly mfa_requirement: { readonly mfa_constraints: object } };
    };
    expect(Object.keys(auth.mfa_requirement.mfa_constraints)).toContain('everybody');
    // The enforcement names it.
    await page.getByRole('button', { name: 'Delete keys of all' }).click();
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('in use by the login enforcement "everybody"').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    for (const name of ['everybody', 'keys of all', 'app of all']) {
      await page.getByRole('button', { name: `Delete ${name}` }).click();
      await page.getByRole('button', { name: 'Delete it' }).click();
      await page.getByRole('button', { name: `Delete ${name}` }).waitFor({ state: 'hidden' });
    }
    await logIn('joan');
    expect(problems).toEqual([]);
  });
});
