/** People with passwords, for tests of signing in. */
import { type MailServer, startMailServer } from '@keelson/testkit';
import {
  type Harness,
  type HarnessOptions,
  type Reply,
  startHarness,
} from './workspace-harness.ts';

export const PASSWORD = 'three words and a 4th';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  /** An API token. */
  readonly token: string;
}

/** Lets people sign in with passwords, as an administrator of the site does. */
export const enablePasswords = (harness: Harness, settings: object = {}): Promise<Reply> =>
  harness.call('PATCH', '/admin/sign-in-settings', {
    data: { type: 'sign-in-settings', attributes: { 'passwords-enabled': true, ...settings } },
  });

export interface Site extends AsyncDisposable {
  readonly harness: Harness;
  readonly mail: MailServer;
}

/** A service in which people sign in with passwords, and the server to which it sends its mails. */
export const startSite = async (config: HarnessOptions['config'] = {}): Promise<Site> => {
  const mail = await startMailServer();
  const harness = await startHarness({
    config: {
      workspaceSmtpUrl: mail.url,
      workspaceMailFrom: 'keelson@keelson.example',
      ...config,
    },
  });
  await enablePasswords(harness);
  return {
    harness,
    mail,
    async [Symbol.asyncDispose]() {
      await harness[Symbol.asyncDispose]();
      await mail[Symbol.asyncDispose]();
    },
  };
};

export const signIn = (
  harness: Harness,
  login: string,
  password: string,
  extra: object = {},
): Promise<Reply> =>
  harness.call(
    'POST',
    '/sessions',
    { data: { type: 'sessions', attributes: { login, password, ...extra } } },
    null,
    { 'user-agent': 'Firefox' },
  );

/** The token of a sign-in that succeeds. */
export const tokenOf = async (reply: Promise<Reply>): Promise<string> =>
  String((await reply).data.attributes['token']);

/** Mails to this address; their long lines are folded (RFC 2045 §6.7). */
const mailsTo = ({ mails }: MailServer, address: string): readonly string[] =>
  mails
    .filter((text) => text.toLowerCase().includes(`to: ${address.toLowerCase()}`))
    .map((text) => text.replaceAll('=\r\n', '').replaceAll('=3D', '='));

/** The code in the link to a page of the console, of the newest mail to the address; "" without one. */
export const codeIn = async (
  harness: Harness,
  mail: MailServer,
  page: string,
  address: string,
): Promise<string> => {
  await harness.runUpkeep();
  const text = mailsTo(mail, address).at(-1) ?? '';
  return new RegExp(`/app/${page}#(\\S+)\\r`).exec(text)?.[1] ?? '';
};

export const requestReset = (harness: Harness, email: string): Promise<Reply> =>
  harness.call(
    'POST',
    '/password-resets',
    { data: { type: 'password-resets', attributes: { email } } },
    null,
  );

export const setPassword = (harness: Harness, code: string, password: string): Promise<Reply> =>
  harness.call(
    'POST',
    '/password-reset/actions/set-password',
    { data: { type: 'password-resets', attributes: { password } } },
    code,
  );

/** A user of this name on these teams, who has set a password by the link of a mail. */
export const addAccount = async (
  harness: Harness,
  mail: MailServer,
  name: string,
  ...teamIds: readonly string[]
): Promise<Account> => {
  const user = await harness.addUser(name, ...teamIds);
  const email = `${name}@keelson.example`;
  await requestReset(harness, email);
  const { status } = await setPassword(
    harness,
    await codeIn(harness, mail, 'new-password', email),
    PASSWORD,
  );
  if (status !== 204) throw new Error(`the password of ${name} was answered with ${status}`);
  return { ...user, name, email, password: PASSWORD };
};
