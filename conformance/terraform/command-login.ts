/** The user's part of `terraform login`, in Chromium. */
import { type Browser, openPage, type Page } from '@keelson/testkit/chromium';

/** The address that the tool opens, or prints where it cannot. */
export const AUTHORIZATION = /https:\/\/localhost:\d+\/app\/command-login\?\S+&state=[\w-]{36}/;

/** Opens the page as somebody without a session, who signs in with a token. */
export const openLogin = async (
  browser: Browser,
  address: string,
  token: string,
): Promise<Page> => {
  const { page } = await openPage(browser, address, { ignoreHTTPSErrors: true });
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  return page;
};

/** Gives the command its token, and waits until the command has its code. */
export const approveLogin = async (page: Page): Promise<void> => {
  const asking = page.waitForRequest((request) => new URL(request.url()).pathname === '/login');
  await page.getByRole('button', { name: 'Give the command a token' }).click();
  const request = await asking;
  // The command stops to listen once it has the code, and its answer may be lost.
  await request.response().catch(() => undefined);
};
