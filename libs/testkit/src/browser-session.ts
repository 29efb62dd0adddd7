/** Sessions of the console in Chromium: a cookie with the tokens, and the key of the page that opens it. */
import { createHash, randomBytes } from 'node:crypto';
import { compactDecrypt } from 'jose';
import type { BrowserContext, Page } from 'playwright-core';

export interface Tokens {
  readonly secrets?: string | undefined;
  readonly workspaces?: string | undefined;
}

/** Where pages store what they know of the session. */
const STORED = 'keelson-session';

/**
 * Stores the cookie of a session with these tokens.
 * @returns a script that signs a page in
 */
export const storeSession = async (
  context: BrowserContext,
  origin: string,
  { secrets, workspaces }: Tokens,
  namespace = '',
): Promise<string> => {
  const key = randomBytes(32).toString('base64url');
  const answer = await fetch(`${origin}/session`, {
    method: 'PUT',
    headers: {
      'x-keelson-session': key,
      ...(secrets !== undefined && { 'x-service-token': secrets }),
      ...(workspaces !== undefined && { authorization: `Bearer ${workspaces}` }),
    },
  });
  const [pair = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  const [name = '', value = ''] = pair.split('=');
  await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Strict' }]);
  const known = {
    namespace,
    key,
    ...(secrets !== undefined && { secrets: 'given' }),
    ...(workspaces !== undefined && { workspaces: 'given' }),
  };
  return `localStorage.setItem(${JSON.stringify(STORED)}, ${JSON.stringify(JSON.stringify(known))});
    sessionStorage.setItem('keelson-namespace', ${JSON.stringify(namespace)});`;
};

/** The tokens of the session in which a page is, which the page itself cannot read. */
export const tokensOf = async (page: Page): Promise<{ service?: string; api?: string }> => {
  const { key } = JSON.parse(
    await page.evaluate<string>(`localStorage.getItem(${JSON.stringify(STORED)})`),
  ) as { key: string };
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 16);
  const cookies = await page.context().cookies();
  const { value = '' } = cookies.find(({ name }) => name.endsWith(digest)) ?? {};
  const { plaintext } = await compactDecrypt(value, Buffer.from(key, 'base64url'));
  return JSON.parse(Buffer.from(plaintext).toString()) as { service?: string; api?: string };
};
