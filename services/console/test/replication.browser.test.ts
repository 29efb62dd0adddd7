/**
 * Replication in the console: two clusters that found a set, withhold paths, part, and take over from
 * each other, each step with the warning of what it wipes or loses.
 */
import { awaitAnswer } from '@keelson/testkit';
import type { Page } from '@keelson/testkit/chromium';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS, signIn, useConsole } from './console-harness.ts';
import { expectOneFieldToChange } from './edit-walk.ts';
import { faultsInVariants } from './page-faults.ts';

const primary = useConsole({ hasNats: true });
const secondary = useConsole({ natsUrl: () => primary.natsUrl() });

/** While its role changes, a cluster refuses requests that it cannot serve yet. */
const beyondRoleChanges = (problems: readonly string[]): readonly string[] =>
  problems.filter((one) => !/\b50[34]\b/.test(one));

const cardOf = (page: Page, title: string) =>
  page.locator('.card').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

/** Makes the cluster of a page a primary. */
const becomePrimary = async (page: Page, title: string): Promise<void> => {
  const card = cardOf(page, title);
  await card.getByRole('button', { name: 'Become a primary' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Become a primary' }).click();
  await card.getByRole('img', { name: /This cluster, primary, generation/ }).waitFor();
};

/** Lets a secondary into the set of a page's cluster. @returns the activation token */
const letIn = async (page: Page, title: string, id: string): Promise<string> => {
  const card = cardOf(page, title);
  const dialog = page.getByRole('dialog');
  await card.getByRole('button', { name: 'Add a secondary' }).click();
  await dialog.getByLabel('Id of the secondary').fill(id);
  await dialog.getByRole('button', { name: 'Create token' }).click();
  await dialog.waitFor({ state: 'detached' });
  const token = page.getByRole('status', { name: 'Token for the secondary' }).locator('code');
  return (await token.textContent()) ?? '';
};

/** Wipes the cluster of a page and makes it follow the primary that gave the token. */
const follow = async (page: Page, title: string, token: string): Promise<void> => {
  const dialog = page.getByRole('dialog');
  await cardOf(page, title).getByRole('button', { name: 'Become a secondary' }).click();
  await dialog.getByText('Everything in this cluster is wiped').waitFor();
  const wipe = dialog.getByRole('button', { name: 'Wipe it and follow' });
  expect(await wipe.isDisabled()).toBe(true);
  await dialog.getByLabel('Token of the primary').fill(token);
  await dialog.getByLabel('to go on').fill('wipe everything');
  await wipe.click();
};

/** Gives key shares of the primary one by one. @returns the token that they make */
const hold = async (card: ReturnType<typeof cardOf>, label: string): Promise<string> => {
  await card.getByRole('button', { name: 'Start the ceremony' }).click();
  for (const [at, share] of primary.unsealKeys().slice(0, 3).entries()) {
    await card.getByText(`${at} of 3 key shares given`).waitFor();
    await card.getByLabel('Key share').fill(share);
    await card.getByRole('button', { name: 'Submit share' }).click();
  }
  const token = await card.getByRole('status', { name: label }).locator('code').textContent();
  return token ?? '';
};

/** Waits until the secondary has what its primary had. */
const untilStreaming = (kind: 'performance' | 'dr') =>
  expect
    .poll(async () => {
      const answer = await fetch(`${secondary.origin()}/v1/sys/replication/${kind}/status`);
      return ((await answer.json()) as { data?: { state?: string } }).data?.state;
    })
    .toBe('stream-wals');

let tokenOfSecondary = '';

const untilNotMounted = (path: string) =>
  awaitAnswer(
    { origin: secondary.origin(), headers: { 'x-service-token': tokenOfSecondary } },
    '/v1/sys/mounts',
    ({ body }) => (path in body.data ? undefined : true),
  );

describe('replication', { timeout: PATIENCE_MS * 2 }, () => {
  test('lets a secondary in, withholds paths from it, and cuts it off', async () => {
    for (const path of ['shared', 'withheld'])
      await primary.secrets(`sys/mounts/${path}`, { type: 'pki' });
    const here = await primary.openSignedIn('/ui/replication');
    const there = await secondary.openSignedIn('/ui/replication');
    await becomePrimary(here.page, 'Performance');
    const token = await letIn(here.page, 'Performance', 'west');
    await follow(there.page, 'Performance', token);
    // The cluster gets a first token of its own.
    await there.page.getByText('This cluster was wiped').waitFor();
    await untilStreaming('performance');
    const first = cardOf(there.page, 'Create the first token of this secondary');
    tokenOfSecondary = await hold(first, 'First token');
    await signIn(there.page, tokenOfSecondary);
    const following = cardOf(there.page, 'Performance');
    await following.getByRole('img', { name: /This cluster, secondary, stream-wals/ }).waitFor();
    const leading = cardOf(here.page, 'Performance');
    await leading.getByRole('img', { name: /west, secondary, connected/ }).waitFor();
    await leading.getByRole('img', { name: /^Lag of Performance .* now: west / }).waitFor();
    expect(await faultsInVariants(here.page, 'replication with a secondary')).toEqual({});
    expect(await faultsInVariants(there.page, 'replication of a secondary')).toEqual({});

    const dialog = here.page.getByRole('dialog');
    await leading.getByRole('button', { name: 'Filter paths of west' }).click();
    await dialog.getByText('removed from the secondary').waitFor();
    await dialog.getByLabel('Paths of mounts').fill('withheld/');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await leading.getByRole('heading', { name: 'Paths filter of west' }).waitFor();
    await leading.getByText('withheld/').first().waitFor();
    await untilNotMounted('withheld/');
    await there.page.getByRole('link', { name: 'Mounts' }).click();
    await there.page.getByRole('rowheader', { name: 'shared/' }).waitFor();
    expect(await there.page.getByRole('rowheader', { name: 'withheld/' }).count()).toBe(0);
    const filter = 'sys/replication/performance/primary/paths-filter/west';
    await expectOneFieldToChange(primary, here.page, {
      form: 'paths-filter',
      at: '/ui/replication',
      button: 'Filter paths of west',
      path: `v1/${filter}`,
      field: 'Paths of mounts and namespaces, separated by commas',
      values: ['withheld/', 'shared/,withheld/', 'shared/'],
      stored: (paths) => ({ paths: paths.split(',') }),
      meanwhile: { mode: 'allow' },
      write: (members) =>
        primary.secrets(filter, { mode: 'deny', paths: ['withheld/'], ...members }),
    });
    // Paths that were emptied would give everything to the secondary by mistake.
    await leading.getByRole('button', { name: 'Filter paths of west' }).click();
    await dialog.getByLabel('Paths of mounts').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('remove the filter').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await leading.getByRole('button', { name: 'Remove the filter of west' }).click();
    await dialog.getByLabel('to go on').fill('west');
    await dialog.getByRole('button', { name: 'Remove it' }).click();
    await leading.getByRole('heading', { name: 'Paths filter' }).waitFor({ state: 'detached' });

    await leading.getByRole('button', { name: 'Revoke a secondary' }).click();
    await dialog.getByText('To come back it needs another token, and is').waitFor();
    await dialog.getByRole('button', { name: 'Revoke it' }).click();
    const west = leading.getByRole('img', { name: /west, secondary/ });
    await west.waitFor({ state: 'detached' });
    await there.page.getByRole('link', { name: 'Replication' }).click();
    await following.getByRole('button', { name: 'Leave the set' }).click();
    await there.page.getByRole('dialog').getByLabel('to go on').fill('leave');
    await there.page.getByRole('dialog').getByRole('button', { name: 'Leave it' }).click();
    await following.getByText('This cluster does not take part.').waitFor();
    expect(beyondRoleChanges([...here.problems, ...there.problems])).toEqual([]);
  });

  test('demotes a primary, and promotes it after showing what would be lost', async () => {
    const { page, problems } = await primary.openSignedIn('/ui/replication');
    const dialog = page.getByRole('dialog');
    const performance = cardOf(page, 'Performance');
    await performance.getByRole('button', { name: 'Demote' }).click();
    await dialog.getByLabel('to go on').fill('demote');
    await dialog.getByRole('button', { name: 'Demote it' }).click();
    await performance.getByRole('button', { name: 'Show what would be lost' }).click();
    await performance.getByRole('status', { name: 'What would be lost' }).waitFor();
    await performance.getByRole('button', { name: 'Promote', exact: true }).click();
    await dialog.getByLabel('to go on').fill('promote');
    await dialog.getByRole('button', { name: 'Promote it' }).click();
    await performance.getByRole('img', { name: /This cluster, primary/ }).waitFor();
    expect(beyondRoleChanges(problems)).toEqual([]);
  });

  test('points a DR secondary to a primary by another token, and lets it leave the set', async () => {
    const here = await primary.openSignedIn('/ui/replication');
    const there = await secondary.openSignedIn('/ui/replication', {
      secrets: tokenOfSecondary,
      // The former secondary has kept what it received.
      workspaces: primary.apiToken(),
    });
    const dialog = there.page.getByRole('dialog');
    await becomePrimary(here.page, 'Disaster recovery');
    const token = await letIn(here.page, 'Disaster recovery', 'outpost');
    await follow(there.page, 'Disaster recovery', token);
    await there.page.getByText('This cluster is a DR secondary').waitFor();
    await untilStreaming('dr');
    const card = cardOf(there.page, 'Operate this DR secondary');
    const operation = await hold(card, 'Operation token');
    const another = await letIn(here.page, 'Disaster recovery', 'station');
    await card.getByRole('button', { name: 'Follow another primary' }).click();
    await dialog.getByText('replaced by what the primary has').waitFor();
    await dialog.getByLabel('Operation token').fill('wrong');
    await dialog.getByLabel('Token of the new primary').fill(another);
    await dialog.getByRole('button', { name: 'Follow it' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Operation token').fill(operation);
    await dialog.getByRole('button', { name: 'Follow it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await cardOf(here.page, 'Disaster recovery')
      .getByRole('img', { name: /station, secondary, connected/ })
      .waitFor();
    await untilStreaming('dr');
    await card.getByRole('button', { name: 'Leave the set' }).click();
    await dialog.getByText('make sure that none reaches both').waitFor();
    await dialog.getByLabel('Operation token').fill(operation);
    await dialog.getByLabel('to go on').fill('leave');
    await dialog.getByRole('button', { name: 'Leave it' }).click();
    await there.page.getByRole('button', { name: 'Sign in' }).waitFor();
    await signIn(there.page, primary.rootToken());
    await there.page.goto(`${secondary.origin()}/ui/replication`);
    await cardOf(there.page, 'Disaster recovery')
      .getByText('This cluster does not take part.')
      .waitFor();
    expect(beyondRoleChanges([...here.problems, ...there.problems])).toEqual([]);
  });

  test('promotes a DR secondary by an operation token of the holders of key shares', async () => {
    const here = await primary.openSignedIn('/ui/replication');
    const there = await secondary.openSignedIn('/ui/replication', {
      // It left its set with what it had received.
      secrets: primary.rootToken(),
      workspaces: primary.apiToken(),
    });
    const token = await letIn(here.page, 'Disaster recovery', 'refuge');
    await follow(there.page, 'Disaster recovery', token);
    await there.page.getByText('This cluster is a DR secondary').waitFor();
    await untilStreaming('dr');
    const card = cardOf(there.page, 'Operate this DR secondary');
    await cardOf(there.page, 'Disaster recovery')
      .getByRole('img', { name: /This cluster, secondary, stream-wals/ })
      .waitFor();
    await card.getByRole('button', { name: 'Start the ceremony' }).click();
    await card.getByLabel('Key share').fill(primary.unsealKeys()[3] ?? '');
    await card.getByRole('button', { name: 'Cancel the ceremony' }).click();
    const operation = await hold(card, 'Operation token');
    await card.locator('input[name=operation]').fill(operation);
    await card.getByRole('button', { name: 'Show what would be lost' }).click();
    const losses = card.getByRole('status', { name: 'What would be lost' });
    await losses.getByRole('listitem').first().waitFor();
    await card.getByRole('button', { name: 'Promote', exact: true }).click();
    const dialog = there.page.getByRole('dialog');
    await dialog.getByText('There must never be two primaries').waitFor();
    await dialog.getByLabel('Operation token').fill(operation);
    await dialog.getByLabel('Also when entries are missing').check();
    await dialog.getByLabel('to go on').fill('promote');
    await dialog.getByRole('button', { name: 'Promote it' }).click();
    await expect
      .poll(async () => (await fetch(`${secondary.origin()}/v1/sys/health`)).status)
      .toBe(200);
    await signIn(there.page, primary.rootToken());
    await there.page.goto(`${secondary.origin()}/ui/replication`);
    await cardOf(there.page, 'Disaster recovery')
      .getByRole('img', { name: /This cluster, primary, generation/ })
      .waitFor();
    expect(beyondRoleChanges([...here.problems, ...there.problems])).toEqual([]);
  });
});
