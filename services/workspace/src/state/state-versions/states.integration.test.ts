import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { md5, type StateUploads, stateText, uploadsTo, url } from '../../../test/state-uploads.ts';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

let harness: Harness;
let workspaceId: string;

const O = '/organizations/acme';
const DAY_MS = 24 * 60 * 60 * 1000;

beforeEach(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  workspaceId = (await harness.create(`${O}/workspaces`, 'workspaces', { name: 'app' })).id;
});
afterEach(() => harness[Symbol.asyncDispose]());

const W = (rest = '') => `/workspaces/${workspaceId}${rest}`;

const uploads = (): StateUploads => uploadsTo(harness, workspaceId);
const announce: StateUploads['announce'] = (...given) => uploads().announce(...given);
const upload: StateUploads['upload'] = (...given) => uploads().upload(...given);
const lock = () => uploads().lock();
const unlock = () => uploads().unlock();

const currentId = async () => (await harness.call('GET', W('/current-state-version'))).data.id;

describe('state versions of one millisecond', () => {
  test('are listed in the order in which they were created', async () => {
    await lock();
    const made: string[] = [];
    for (let serial = 1; serial <= 12; serial += 1) made.push((await upload(serial)).id);
    const filter = 'filter[organization][name]=acme&filter[workspace][name]=app';
    const { list } = await harness.call('GET', `/state-versions?${filter}`);
    expect(list.map(({ id }) => id)).toEqual(made.toReversed());
  });
});

describe('a state upload', () => {
  test('is announced, uploaded in two parts in any order, and current from then on', async () => {
    await lock();
    harness.clock.advance(1000);
    const text = stateText(1);
    const { status, data } = await announce(1, text, { lineage: 'l-1' });
    expect([status, data.attributes['status']]).toEqual([201, 'pending']);
    expect((await harness.call('GET', W('/current-state-version'))).status).toBe(404);

    const json = await harness.transfer('PUT', url(data, 'json-state-upload'), Buffer.from('{}'));
    const raw = await harness.transfer('PUT', url(data, 'state-upload'), Buffer.from(text));
    expect([json.status, raw.status]).toEqual([204, 204]);
    const again = await harness.transfer('PUT', url(data, 'json-state-upload'), Buffer.from('{}'));
    expect(again.status).toBe(409);

    const current = await harness.call('GET', W('/current-state-version?include=outputs'));
    expect((await harness.call('GET', W())).data.attributes['latest-change-at']).toBe(
      data.attributes['created-at'],
    );
    expect(current.data).toMatchObject({
      id: data.id,
      attributes: {
        status: 'finalized',
        serial: 1,
        size: text.length,
        'terraform-version': '1.11.4',
        'hosted-state-upload-url': null,
        'hosted-json-state-upload-url': null,
        'billable-rum-count': 1,
        modules: { root: { 'terraform-data': 1 } },
        providers: { 'provider["terraform.io/builtin/terraform"]': { 'terraform-data': 1 } },
      },
    });
    expect(current.included).toHaveLength(2);
    const download = await harness.transfer('GET', url(current.data, 'state-download'));
    expect(download).toMatchObject({ status: 200, text });
    expect((await harness.transfer('GET', url(current.data, 'json-state-download'))).text).toBe(
      '{}',
    );
    const workspace = await harness.call('GET', `${W()}?include=outputs`);
    expect(workspace.data.attributes['resource-count']).toBe(1);
    expect(workspace.data.relationships['current-state-version']?.data).toMatchObject({
      id: data.id,
    });
    expect(workspace.included.map(({ attributes }) => attributes['value'])).toEqual([['a'], null]);
  });

  test('stores a large state in many records', async () => {
    await lock();
    const padding = 'x'.repeat(1_000_000);
    const { text, status, id } = await upload(1, { padding });
    expect(status).toBe(204);
    expect(await harness.store.scan('shared/state-chunks/')).toHaveLength(4);
    const { data } = await harness.call('GET', `/state-versions/${id}`);
    expect((await harness.transfer('GET', url(data, 'state-download'))).text).toBe(text);
  });

  test('accepts an inline state', async () => {
    await lock();
    const text = stateText(0);
    const state = Buffer.from(text).toString('base64');
    const { status, data } = await announce(0, text, { state, 'json-state': state });
    expect(status).toBe(201);
    // Values that the request leaves out are read from the state.
    expect(data.attributes).toMatchObject({ status: 'finalized', lineage: 'l-1' });
    expect((await harness.transfer('GET', url(data, 'json-state-download'))).text).toBe(text);
    for (const broken of ['*', `${'='.repeat(500_000)}*`]) {
      expect((await announce(1, text, { state: broken })).errors[0]?.source?.pointer).toBe(
        '/data/attributes/state',
      );
    }
  });

  test.for([
    ['is not what was announced', stateText(2), 412],
    ['is no state', '[]', 422],
  ] as const)('leaves nothing pending when an inline state %s', async ([, text, status]) => {
    await lock();
    const state = Buffer.from(text).toString('base64');
    const refused = await announce(1, stateText(1), { state, 'json-state': state });
    expect(refused.status).toBe(status);
    expect((await unlock()).status).toBe(200);
    expect((await harness.call('GET', W('/current-state-version'))).status).toBe(404);
  });

  test('accepts an MD5 hash in upper or lower case', async () => {
    await lock();
    const hash = md5(stateText(1));
    const { status, data } = await upload(1, {}, { md5: hash.toUpperCase() });
    expect([status, data.attributes['md5']]).toEqual([204, hash]);
  });

  test('belongs to the team whose token announces it', async () => {
    const team = await harness.create(`${O}/teams`, 'teams', {
      name: 'all',
      'organization-access': { 'manage-workspaces': true },
    });
    const path = `/teams/${team.id}/authentication-token`;
    const made = await harness.create(path, 'authentication-tokens', {});
    const token = String(made.attributes['token']);
    await harness.call('POST', W('/actions/lock'), undefined, token);
    const { data } = await announce(1, stateText(1), {}, token);
    expect(data.relationships['created-by']?.data).toEqual({ id: team.id, type: 'teams' });
  });

  test('requires that its caller holds the lock', async () => {
    const text = stateText(1);
    const unlocked = await announce(1, text);
    expect([unlocked.status, unlocked.errors[0]?.detail]).toEqual([
      409,
      expect.stringContaining('only accept state uploads when locked'),
    ]);
    const { list } = await harness.call('GET', `${O}/teams`);
    const other = await harness.addUser('other', list[0]?.id ?? '');
    await lock();
    const refused = await announce(1, text, {}, other.token);
    expect([refused.status, refused.errors[0]?.detail]).toEqual([
      409,
      expect.stringMatching(/is locked by User user-\w+ and will only accept/),
    ]);
  });

  test.for([
    ['a lower serial', 4, {}, {}, 409, 'not greater than the serial'],
    ['the same serial with another content', 5, { resources: 2 }, {}, 409, 'MD5 hash'],
    ['another lineage', 6, { lineage: 'l-2' }, {}, 409, 'lineage'],
    ['another lineage by force', 1, { lineage: 'l-2' }, { force: true }, 201, ''],
    ['a lower serial by force', 4, {}, { force: true }, 201, ''],
    [
      'the same serial with another content by force',
      5,
      { resources: 2 },
      { force: true },
      201,
      '',
    ],
    ['the same once more', 5, {}, {}, 201, ''],
    ['a later serial', 9, {}, {}, 201, ''],
  ] as const)('that brings %s', async ([, serial, content, more, status, detail]) => {
    await lock();
    await upload(5);
    const text = stateText(serial, content);
    const lineage = 'lineage' in content ? content.lineage : 'l-1';
    const reply = await announce(serial, text, { lineage, ...more });
    expect(reply.status).toBe(status);
    expect(reply.errors[0]?.detail ?? '').toContain(detail);
  });

  test('is refused if the content differs from the announcement, and can be retried', async () => {
    await lock();
    const text = stateText(3);
    const { data } = await announce(3, text);
    const address = url(data, 'state-upload');
    const put = async (bytes: string) =>
      (await harness.transfer('PUT', address, Buffer.from(bytes))).status;
    expect(await put(stateText(3, { resources: 2 }))).toBe(412);
    expect(await put('no json')).toBe(422);
    expect(await put(text)).toBe(204);
    expect(await put(text)).toBe(409);
  });

  test.for(['inline', 'to its address'] as const)(
    'has the lineage of the file %s, whatever was announced',
    async (how) => {
      const send = async (serial: number, lineage: string, announced: string) => {
        const text = stateText(serial, { lineage });
        if (how === 'inline') {
          const state = Buffer.from(text).toString('base64');
          return (await announce(serial, text, { state, lineage: announced })).status;
        }
        const { data } = await announce(serial, text, { lineage: announced });
        return (await harness.transfer('PUT', url(data, 'state-upload'), Buffer.from(text))).status;
      };
      await lock();
      expect(await send(3, 'l-1', 'l-7')).toBeLessThan(300);
      const { data } = await harness.call('GET', W('/current-state-version'));
      expect(data.attributes['lineage']).toBe('l-1');
      // The lineage of the file decides what may follow.
      expect(await send(4, 'l-7', 'l-1')).toBe(409);
      // Only an announcement without the file is refused before the file is there.
      const announced = how === 'inline' ? 'l-7' : 'l-1';
      expect(await send(4, 'l-1', announced)).toBeLessThan(300);
    },
  );

  describe('a state whose serial differs from the announced one', () => {
    /**
     * Creates version `announced`, uploads a file with `serial`; returns the refusing status, or the version.
     */
    const send = {
      inline: async (announced: number, serial: number, content: object, more: object) => {
        const text = stateText(serial, content);
        const state = Buffer.from(text).toString('base64');
        const { status, data, errors } = await announce(announced, text, { state, ...more });
        return { status, id: data?.id ?? '', text: errors[0]?.detail };
      },
      'to its address': async (
        announced: number,
        serial: number,
        content: object,
        more: object,
      ) => {
        const text = stateText(serial, content);
        const { data } = await announce(announced, text, more);
        const put = await harness.transfer('PUT', url(data, 'state-upload'), Buffer.from(text));
        return { ...put, id: data.id };
      },
    };

    test.for(Object.keys(send) as (keyof typeof send)[])(
      'is accepted %s with the serial of the file',
      async (how) => {
        await lock();
        const { status, id } = await send[how](1, 5, {}, {});
        expect(status).toBeLessThan(300);
        const { data } = await harness.call('GET', `/state-versions/${id}`);
        expect(data.attributes['serial']).toBe(5);
        const lower = await send[how](6, 4, {}, {});
        expect([lower.status, lower.text]).toEqual([409, expect.stringContaining('serial')]);
        await harness.call('POST', W('/actions/force-unlock'));
        await lock();
        expect((await send[how](6, 4, {}, { force: true })).status).toBeLessThan(300);
        expect((await send[how](5, 5, { lineage: 'l-2' }, {})).status).toBe(409);
      },
    );

    test('must follow the serial of the previous file, whatever was announced', async () => {
      await lock();
      expect((await send.inline(0, 5, {}, {})).status).toBe(201);
      expect((await send.inline(1, 5, {}, {})).status).toBe(201);
      expect((await send.inline(2, 5, { resources: 2 }, {})).status).toBe(409);
    });
  });

  test('is accessible to nobody without the signed address', async () => {
    await lock();
    const { data, text } = await upload(1);
    const address = url(data, 'state-upload');
    const read = url(
      (await harness.call('GET', `/state-versions/${data.id}`)).data,
      'state-download',
    );
    for (const [method, forged] of [
      ['PUT', address.replace('/state?', '/json-state?')],
      ['PUT', address.replace(/signature=.{4}/, 'signature=AAAA')],
      ['PUT', address.replace(/expires=\d+/, 'expires=99999999999')],
      ['GET', read.replace(/\?.*/, '')],
      ['GET', address.replace('/uploads/', '/downloads/').replace('?', '/at-1?')],
    ] as const) {
      const { status } = await harness.transfer(method, forged, Buffer.from(text));
      expect([forged, status]).toEqual([forged, 403]);
    }
    expect((await harness.transfer('GET', read)).status).toBe(200);
    harness.clock.advance(25 * 60 * 60 * 1000 - 1);
    expect((await harness.transfer('GET', read)).status).toBe(200);
    harness.clock.advance(1);
    expect((await harness.transfer('GET', read)).status).toBe(403);
  });
});

describe('a lock and its states', () => {
  test('unlock waits for the announced state, force-unlock discards it', async () => {
    await lock();
    const { data } = await announce(1, stateText(1));
    const waiting = await unlock();
    expect([waiting.status, waiting.errors[0]?.detail]).toEqual([
      503,
      expect.stringContaining('latest state version is still pending'),
    ]);
    expect((await harness.call('POST', W('/actions/force-unlock'))).status).toBe(200);
    const late = await harness.transfer(
      'PUT',
      url(data, 'state-upload'),
      Buffer.from(stateText(1)),
    );
    expect(late.status).toBe(409);
    await lock();
    expect((await unlock()).status).toBe(200);
  });

  test.for(['unlock', 'force-unlock'])(
    'an intermediate state becomes current on %s',
    async (action) => {
      await lock();
      const first = await upload(1);
      harness.clock.advance(1000);
      const second = await upload(2, { resources: 3 }, { intermediate: true });
      expect(await currentId()).toBe(first.id);
      const { data: held } = await harness.call('GET', W());
      expect(held.attributes['latest-change-at']).toBe(first.data.attributes['created-at']);
      const { data } = await harness.call('POST', W(`/actions/${action}`));
      expect(await currentId()).toBe(second.id);
      expect(data.attributes).toMatchObject({
        'resource-count': 3,
        'latest-change-at': second.data.attributes['created-at'],
      });
    },
  );

  test('a newer announcement discards the older one', async () => {
    await lock();
    const { data } = await announce(1, stateText(1));
    const newer = await announce(2, stateText(2));
    const shown = await harness.call('GET', `/state-versions/${data.id}`);
    expect(shown.data.attributes['status']).toBe('discarded');
    const put = async (version: typeof data, part: string, text: string) =>
      (await harness.transfer('PUT', url(version, part), Buffer.from(text))).status;
    expect(await put(data, 'state-upload', stateText(1))).toBe(409);
    expect(await put(data, 'json-state-upload', '{}')).toBe(409);
    // The JSON state may be uploaded after the state itself.
    expect(await put(newer.data, 'state-upload', stateText(2))).toBe(204);
    expect(await put(newer.data, 'json-state-upload', '{}')).toBe(204);
  });
});

describe('states of a workspace', () => {
  const list = (query = '') =>
    harness.call(
      'GET',
      `/state-versions?filter[organization][name]=acme&filter[workspace][name]=app${query}`,
    );

  test('are listed newest first, by status', async () => {
    await lock();
    const ids: string[] = [];
    for (const serial of [1, 2, 3]) {
      ids.unshift((await upload(serial)).id);
      harness.clock.advance(1000);
    }
    const pending = (await announce(4, stateText(4))).data.id;
    const all = await list('&page[size]=2');
    expect(all.list.map(({ id }) => id)).toEqual([pending, ids[0]]);
    expect(all.meta.pagination['total-count']).toBe(4);
    const second = await list('&page[size]=2&page[number]=2');
    expect(second.list.map(({ id }) => id)).toEqual(ids.slice(1));
    const finalized = await list('&filter[status]=finalized');
    expect(finalized.list.map(({ id }) => id)).toEqual(ids);
    expect(finalized.meta.pagination['total-count']).toBe(3);
    expect((await list('&filter[status]=unheard-of')).list).toEqual([]);
    const { status, errors } = await harness.call(
      'GET',
      '/state-versions?filter[organization][name]=acme',
    );
    expect([status, errors[0]?.source]).toEqual([422, { parameter: 'filter[workspace][name]' }]);
    expect((await harness.call('GET', '/state-versions')).status).toBe(422);
  });

  test('keep a workspace from being deleted while they hold resources', async () => {
    const safeDelete = async () => {
      const { status, errors } = await harness.call('POST', W('/actions/safe-delete'));
      return [status, errors[0]?.detail];
    };
    await lock();
    await upload(1);
    expect(await safeDelete()).toEqual([409, expect.stringContaining('locked')]);
    await unlock();
    const [status, text] = await safeDelete();
    expect([status, text]).toEqual([409, expect.stringContaining('managing 1 resources')]);
    // Clients look for this word in the other error.
    expect(text).not.toContain('locked');
    await lock();
    await upload(2, { resources: 0 });
    await unlock();
    expect(await safeDelete()).toEqual([204, undefined]);
  });
});

describe('the upkeep of states', () => {
  const contents = () => harness.store.scan('shared/state-chunks/');

  test('withholds and then deletes states by the policy, never the current one', async () => {
    await harness.call('POST', W('/relationships/data-retention-policy'), {
      data: {
        type: 'data-retention-policy-delete-olders',
        attributes: { deleteOlderThanNDays: 2 },
      },
    });
    await lock();
    const old = await upload(1);
    harness.clock.advance(1);
    const current = await upload(2);
    const statuses = async () => {
      const shown = [old.id, current.id].map((id) => harness.call('GET', `/state-versions/${id}`));
      return (await Promise.all(shown)).map(({ data }) => data.attributes['status']);
    };
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    expect(await statuses()).toEqual(['finalized', 'finalized']);
    const shown = await harness.call('GET', `/state-versions/${old.id}`);
    const address = url(shown.data, 'state-download');
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    expect(await statuses()).toEqual(['backing_data_soft_deleted', 'finalized']);
    const withheld = await harness.call('GET', `/state-versions/${old.id}`);
    expect(withheld.data.attributes['hosted-state-download-url']).toBeNull();
    expect((await harness.transfer('GET', address)).status).toBe(404);
    const action = (name: string) =>
      harness.call('POST', `/state-versions/${old.id}/actions/${name}_backing_data`);
    expect((await action('restore')).status).toBe(204);
    expect((await action('restore')).status).toBe(400);
    const hyphened = (name: string) =>
      harness.call('POST', `/state-versions/${old.id}/actions/${name}-backing-data`);
    expect((await hyphened('soft-delete')).status).toBe(204);
    expect((await hyphened('restore')).status).toBe(204);
    // Whatever its age, its bytes can be restored for some time after they were withheld.
    harness.clock.advance(30 * DAY_MS);
    await harness.runUpkeep();
    expect(await statuses()).toEqual(['backing_data_soft_deleted', 'finalized']);
    harness.clock.advance(7 * DAY_MS);
    await harness.runUpkeep();
    expect(await statuses()).toEqual(['backing_data_permanently_deleted', 'finalized']);
    expect(await contents()).toHaveLength(1);
    const deleted = await harness.call('GET', `/state-versions/${old.id}?include=outputs`);
    expect([deleted.data.relationships['outputs']?.data, deleted.included]).toEqual([[], []]);
  });

  test('removes interrupted uploads and the states of removed workspaces', async () => {
    await lock();
    await upload(1);
    const { data } = await announce(2, stateText(2));
    await harness.transfer('PUT', url(data, 'json-state-upload'), Buffer.from('{}'));
    // In more records than are removed together.
    const other = '{"serial":2}'.padEnd(65 * 256 * 1024);
    await harness.transfer('PUT', url(data, 'state-upload'), Buffer.from(other));
    expect(await contents()).toHaveLength(2 + 65);
    harness.clock.advance(26 * 60 * 60 * 1000);
    await harness.runUpkeep();
    expect(await contents()).toHaveLength(2);
    expect((await harness.call('DELETE', W())).status).toBe(204);
    await harness.runUpkeep();
    expect(await contents()).toEqual([]);
    expect(await harness.store.scan('shared/state-versions/')).toEqual([]);
  });
});
