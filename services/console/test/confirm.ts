import type { Page } from '@keelson/testkit/chromium';

/** Opens a dialog by its button, fills it in, confirms, and waits until it has gone. */
export const confirm = async (
  page: Page,
  button: string,
  label: string,
  fill: (dialog: ReturnType<Page['getByRole']>) => Promise<unknown> = () => Promise.resolve(),
): Promise<void> => {
  await page.getByRole('button', { name: button, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await fill(dialog);
  await dialog.getByRole('button', { name: label, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
};

/** Chooses an action in the menu of one thing of a list. */
export const choose = async (page: Page, thing: string, action: string): Promise<void> => {
  await page.getByRole('button', { name: `More actions: ${thing}` }).click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
};
