/** Opens a form that edits something, changes one field, and compares what the API has before and after. */
import type { Page } from '@keelson/testkit/chromium';
import type { JsonObject } from '@keelson/testkit/planned-run';
import { expect } from 'vitest';
import type { ConsoleUnderTest } from './console-harness.ts';

export interface EditedThing {
  /** The form, as its `edits` names it in the source. */
  readonly form: string;
  /** The page with the form, or with the button that opens it. */
  readonly at: string;
  /** The button that opens the form; none if the page has it. */
  readonly button?: string;
  /** Whether the button leads to a page instead of a dialog. */
  readonly isOnPage?: boolean;
  /** Label of the button that saves. */
  readonly save?: string;
  /** The thing in its API: "v1/pki/roles/web", "api/v2/projects/prj-1". */
  readonly path: string;
  /** Label of the field that is changed. */
  readonly field: string | RegExp;
  /**
   * The value of the field at first, the one that the person enters, and the one that somebody else stores meanwhile. A
   * checkbox takes "true" and "false", and has no third value: two people who change it agree.
   */
  readonly values: readonly [first: string, mine: string, theirs?: string];
  /** The members that hold a value of the field. */
  readonly stored: (value: string) => object;
  /** Other members that somebody else changes while the form is open; none if it has no other. */
  readonly meanwhile?: object;
  /** Reads the thing, where its path is not that of one document. */
  readonly read?: () => Promise<JsonObject>;
  /** Stores members through the API and leaves the others; by default a POST below /v1/ and a PATCH below /api/v2/. */
  readonly write?: (members: object, namespace: string) => Promise<unknown>;
}

/** Members that change with every write, or by a fetch of a repository that a write has started. */
const VOLATILE = [
  'updated-at',
  'latest-change-at',
  'version-id',
  'current-configuration-version',
  'current-run',
  'latest-run',
  'last_updated',
  'external_service_last_updated',
];

const apiOf = (site: ConsoleUnderTest, thing: EditedThing, namespace: string) => {
  const { path, write } = thing;
  const below = path.replace(/^(?:v1|api\/v2)\//, '');
  const read = async (): Promise<JsonObject> => {
    if (thing.read !== undefined) return thing.read();
    if (path.startsWith('v1/')) {
      const { data } = await site.readSecret(below, namespace);
      for (const name of VOLATILE) delete data[name];
      return data;
    }
    const { attributes, relationships } = (await site.workspaces('GET', below)).data;
    for (const name of VOLATILE) {
      delete attributes[name];
      delete relationships?.[name];
    }
    // Says how the last fetch went.
    delete attributes['vcs-repo']?.problem;
    return { ...attributes, ...(relationships && { relationships }) };
  };
  const patch = async (members: JsonObject): Promise<unknown> => {
    if (path.startsWith('v1/')) return site.secrets(below, members, namespace);
    const { type } = (await site.workspaces('GET', below)).data;
    const { relationships, ...attributes } = members;
    const data = { type, attributes, ...(relationships && { relationships }) };
    return site.workspaces('PATCH', below, { data });
  };
  return {
    read,
    write: (members: object): Promise<unknown> =>
      write === undefined ? patch(members) : write(members, namespace),
  };
};

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects are merged, everything else is replaced. */
const merged = (before: JsonObject, members: JsonObject): JsonObject => ({
  ...before,
  ...Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      isObject(before[name]) && isObject(value) ? merged(before[name], value) : value,
    ]),
  ),
});

type Scope = ReturnType<Page['locator']>;

/** Types into a field, chooses one of its options, or ticks it. */
const enter = async (scope: Scope, label: string | RegExp, value: string): Promise<void> => {
  const field = scope.getByLabel(label);
  const kind = await field.evaluate(({ tagName, type }: { tagName: string; type: string }) =>
    tagName === 'SELECT' ? tagName : type,
  );
  if (kind === 'SELECT') await field.selectOption(value);
  else if (kind === 'checkbox') await field.setChecked(value === 'true');
  else await field.fill(value);
};

/**
 * Changes one field of a thing while somebody else changes other members, and then while somebody else changes the
 * same one.
 */
export const expectOneFieldToChange = async (
  site: ConsoleUnderTest,
  page: Page,
  thing: EditedThing,
  namespace = '',
): Promise<void> => {
  const { read, write } = apiOf(site, thing, namespace);
  const { form, button, save = 'Save', field, stored } = thing;
  const [first, mine, theirs] = thing.values;
  const isOnPage = thing.isOnPage ?? button === undefined;
  const scope = isOnPage ? page.locator('main') : page.getByRole('dialog');
  const open = async (): Promise<void> => {
    await page.goto(`${site.origin()}${thing.at}`);
    if (button !== undefined) await page.getByRole('button', { name: button, exact: true }).click();
    await scope.getByLabel(field).waitFor();
  };
  const saving = scope.getByRole('button', { name: save, exact: true });
  const saved = page.getByRole('status', { name: 'Notices' }).getByText('Saved.', { exact: true });
  const expectStored = async (before: JsonObject): Promise<void> => {
    await saved.waitFor();
    const expected = merged(before, stored(mine));
    expect({ form, namespace, is: await read() }).toEqual({ form, namespace, is: expected });
  };

  await write(stored(first));
  await open();
  if (thing.meanwhile !== undefined) await write(thing.meanwhile);
  const before = await read();
  await enter(scope, field, mine);
  await saving.click();
  await expectStored(before);
  if (theirs === undefined) return;

  await write(stored(first));
  await open();
  await write(stored(theirs));
  const changed = await read();
  await enter(scope, field, mine);
  await saving.click();
  const conflict = scope.getByRole('group', { name: 'Changed by somebody else meanwhile' });
  await conflict.waitFor();
  expect({ form, is: await read() }).toEqual({ form, is: changed });
  await conflict.getByLabel('Yours').check();
  await saving.click();
  await expectStored(changed);
};
