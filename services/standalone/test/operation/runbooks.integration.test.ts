/**
 * Every page of docs/runbooks, its shell blocks pasted word for word, between two standalone processes that
 * have a NATS server each. One story: a page begins where another one ended, as the pages say of each other.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  bundledProcess,
  type KeelsonProcess,
  type NatsServer,
  startKeelson,
  startNats,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf, openRunbookShell, type RunbookShell } from '../runbook-shell.ts';

const WITHIN_MS = 300_000;

/** A cluster with its address and token in the shell's variables of its name. */
interface Site {
  readonly name: 'A' | 'B';
  readonly folder: TemporaryDirectory;
  nats: NatsServer;
  process: KeelsonProcess;
}

let shell: RunbookShell;
let a: Site;
let b: Site;

const start = (folder: TemporaryDirectory, natsUrl: string, more: Record<string, string> = {}) =>
  startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_NATS_URL: natsUrl, KEELSON_RATE_LIMIT: 'off', ...more },
  });

const open = async (name: Site['name']): Promise<Site> => {
  const folder = await temporaryDirectory();
  const nats = await startNats({ jetstream: true });
  return { name, folder, nats, process: await start(folder, nats.url) };
};

/** Starts a cluster that was stopped; its port is another one then. */
const startAgain = async (
  site: Site,
  more: Record<string, string> = {},
  natsUrl = site.nats.url,
): Promise<void> => {
  site.process = await start(site.folder, natsUrl, more);
  await shell.set({ [site.name]: site.process.http });
};

/** Printed when a call was refused; a page whose command may be repeated says so. */
const REFUSED = /"errors":|Error:/;

const follow = async (page: string): Promise<readonly string[]> => {
  const printed = await shell.follow(page);
  const refused = printed.filter((text) => REFUSED.test(text));
  expect(refused.filter((text) => !text.includes('still catching up'))).toEqual([]);
  return printed;
};

const stateOf = (site: Site, kind: string, member: string): Promise<string> =>
  shell.paste(`state_of "$${site.name}" ${kind} ${member}`);

beforeAll(async () => {
  shell = openRunbookShell();
  [a, b] = await Promise.all([open('A'), open('B')]);
  const facts = JSON.parse(readFileSync(join(a.process.dataFolder, 'first-run.json'), 'utf8')) as {
    readonly unseal_keys: readonly string[];
  };
  await shell.set({
    A: a.process.http,
    B: b.process.http,
    TOKEN_A: a.process.rootToken,
    TOKEN_B: b.process.rootToken,
    SHARES: facts.unseal_keys.slice(0, 3).join(' '),
  });
  await shell.follow('README');
  // The pages poll once a second for a human reader; the test polls faster.
  await shell.paste('sleep() { command sleep 0.1; }');
  // A wait that does not end is named before the time of its test is over.
  await shell.paste('WITHIN=120');
}, WITHIN_MS);

afterAll(async () => {
  await shell[Symbol.asyncDispose]();
  for (const site of [a, b]) {
    await site.process.stop();
    await site.nats[Symbol.asyncDispose]();
    await site.folder[Symbol.asyncDispose]();
  }
}, WITHIN_MS);

/** Each page's extra preparation, when the previous page does not leave it, and the checks of its result. */
const STORY: Readonly<Record<string, () => Promise<void>>> = {
  'enable-performance': async () => {
    const printed = await follow('enable-performance');
    expect(printed.at(-1)).toContain('"name":"from-branch"');
  },

  'filter-secondary': async () => {
    const printed = await follow('filter-secondary');
    expect(printed[2]?.split('\n')).toEqual(["[ 'headquarters/' ]", "[ 'headquarters/' ]"]);
  },

  'revoke-secondary': async () => {
    const printed = await follow('revoke-secondary');
    expect(printed.slice(0, 2)).toEqual(["[ 'branch' ]", '[]']);
  },

  'rejoin-secondary': async () => {
    await follow('rejoin-secondary');
    expect(
      await shell.paste(
        'curl -s -H "X-Service-Token: $TOKEN_B" "$B/v1/auth/token/lookup-self" | field data.policies',
      ),
    ).toBe("[ 'root' ]");
  },

  'move-performance-primary': async () => {
    // A filter that went a moment ago does not hold it up, even before B has asked for it.
    const filters = '$A/v1/sys/replication/performance/primary/paths-filter/branch';
    await shell.paste(`
      a replication/performance/primary/paths-filter/branch '{"mode":"deny","paths":["api/v2/"]}'
      is_known() { curl -s -H "X-Service-Token: $TOKEN_B" "$B/v1/sys/replication/performance/secondary/dynamic-filter/branch" | grep -q api/v2/; }
      wait_until "B knows its filter" is_known
      until_filtered branch
      curl -s -X DELETE -H "X-Service-Token: $TOKEN_A" "${filters}"
      until_equal "$A" "$B" performance`);
    await follow('move-performance-primary');
    expect(await stateOf(b, 'performance', 'mode')).toBe('primary');
    expect(await stateOf(a, 'performance', 'secondary_id')).toMatch(/^former-/);
  },

  'leave-replication': async () => {
    // As written for a set whose primary is A.
    await shell.set({ A: b.process.http, B: a.process.http });
    await shell.paste('OTHER=$TOKEN_A; TOKEN_A=$TOKEN_B; TOKEN_B=$OTHER');
    const printed = await follow('leave-replication');
    expect(printed.at(-1)?.split('\n').slice(-2)).toEqual(['disabled', 'disabled']);
    await shell.set({ A: a.process.http, B: b.process.http });
    await shell.paste('OTHER=$TOKEN_A; TOKEN_A=$TOKEN_B; TOKEN_B=$OTHER');
  },

  'enable-dr': async () => {
    const printed = await follow('enable-dr');
    expect(printed.at(-1)).toBe('472');
  },

  'prepare-operation-token': async () => {
    const printed = await follow('prepare-operation-token');
    expect(printed.at(-1)).toContain('"missing_entries":0');
  },

  'replace-primary-address': async () => {
    // The same server under another address, which is all that A and B see of a move.
    const address = a.nats.url.replace('127.0.0.1', 'localhost');
    await a.process.stop();
    await startAgain(a, {}, address);
    await shell.set({ NEW_ADDRESS: address });
    expect((await follow('replace-primary-address')).at(-1)).toContain(address);
  },

  upgrade: async () => {
    const [before = '', secondary = '', primary = '', ...more] = blocksOf('upgrade');
    expect(more).toEqual([]);
    const both = /^A \d+\.\d+\.\d+, B \d+\.\d+\.\d+$/;
    expect(await shell.paste(before)).toMatch(both);
    await b.process.stop();
    await startAgain(b);
    expect(await shell.paste(secondary)).toMatch(both);
    await a.process.stop();
    await startAgain(a);
    expect(await shell.paste(primary)).toMatch(both);
  },

  'repair-damage': async () => {
    await shell.paste('a policies/acl/lies \'{"policy":"path \\"x\\" { policy = \\"read\\" }"}\'');
    // B has the tokens of A; this one has the policy, and is sent along with the calls of the page.
    await shell.paste(`FORMER_TOKEN_B=$TOKEN_B
TOKEN_B=$(curl -s -X POST -H "X-Service-Token: $TOKEN_A" "$A/v1/auth/token/create" -d '{"policies":["lies"]}' | field auth.client_token)
until_equal "$A" "$B" dr`);
    await b.process.stop();
    const database = new DatabaseSync(join(b.process.dataFolder, 'sys.sqlite'));
    const { changes } = database
      .prepare("UPDATE record SET stored = x'00' WHERE path LIKE 'shared/polic%/lies'")
      .run();
    database.close();
    expect(changes).toBe(1);
    await startAgain(b);
    const damaged =
      'curl -s "$B/v1/sys/health"; curl -s -H "X-Service-Token: $TOKEN_A" "$B/v1/sys/metrics?format=prometheus"';
    expect(await shell.paste(damaged)).toMatch(
      /"damaged_records":\{"policies":1\}.*^keelson_damaged_records\{kind="policies"\} 1$/ms,
    );
    const printed = await follow('repair-damage');
    expect(printed[0]).toContain('"corrupted_root":true');
    expect(printed.at(-1)).toBe('false');
    expect(await shell.paste(damaged)).toMatch(/^keelson_damaged_records\{kind="policies"\} 0$/m);
    await shell.paste('TOKEN_B=$FORMER_TOKEN_B');
  },

  'planned-failover': async () => {
    const printed = await follow('planned-failover');
    expect(printed[0]).toContain('"missing_entries":0');
    expect(await stateOf(b, 'dr', 'mode')).toBe('primary');
    expect(await stateOf(a, 'dr', 'mode')).toBe('secondary');
  },

  failback: async () => {
    await follow('failback');
    expect(await stateOf(a, 'dr', 'mode')).toBe('primary');
    expect(await stateOf(b, 'dr', 'mode')).toBe('secondary');
  },

  'unplanned-failover': async () => {
    await a.process.stop('SIGKILL');
    await a.nats.process.kill();
    const printed = await follow('unplanned-failover');
    expect(printed.at(-1)).toContain('"sealed":false');
    await a.nats.process.start();
    await startAgain(a);
    // A does not know of the promotion, so the page on failback makes it step back first.
    expect(await stateOf(a, 'dr', 'mode')).toBe('primary');
    await follow('failback');
    expect(await stateOf(a, 'dr', 'mode')).toBe('primary');
  },

  'check-storage': async () => {
    const command = await bundledProcess('services/cli/src/main.ts');
    await shell.paste(`keelson() { '${process.execPath}' '${command}' "$@"; }`);
    const nowhere = 'postgres://keelson:hunter2@127.0.0.1:1/sys';
    await shell.set({ DATA: a.process.dataFolder, DATABASE_URL: nowhere });
    const [folder = '', database = ''] = await shell.follow('check-storage');
    expect(folder.split('\n').map((line) => line.split(/\s+/)[0])).toEqual(
      Array.from({ length: 8 }, () => 'good'),
    );
    expect(database).toMatch(/^fault +127.0.0.1:1\/sys +It cannot be read: .*ECONNREFUSED/);
    expect(database).not.toContain('hunter2');
  },

  'delete-customer': async () => {
    const address = a.process.http;
    await shell.set({ ADDRESS: address, TOKEN: a.process.rootToken, API: a.process.apiToken });
    await shell.set({ ORGANIZATION: 'customer', NAMESPACE: 'customer' });
    await shell.paste(
      `curl -sS --fail -H "Authorization: Bearer $API" -H 'Content-Type: application/vnd.api+json' "$ADDRESS/api/v2/organizations" -d '{"data":{"type":"organizations","attributes":{"name":"customer","email":"a@b.example"}}}'`,
    );
    await shell.paste('a namespaces/customer {}');
    const gone = await shell.paste(
      'curl -s -o /dev/null -w "%{http_code}" -H "Authorization: Bearer $API" "$ADDRESS/api/v2/organizations/customer"',
    );
    expect(gone).toBe('200');
    await follow('delete-customer');
    expect(
      await shell.paste(
        'curl -s -o /dev/null -w "%{http_code} " -H "Authorization: Bearer $API" "$ADDRESS/api/v2/organizations/customer"; curl -s -o /dev/null -w "%{http_code}" -H "X-Service-Token: $TOKEN" "$ADDRESS/v1/sys/namespaces/customer"',
      ),
    ).toBe('404 404');
  },

  'leaked-secret': async () => {
    const keyFile = join(a.process.dataFolder, 'unseal.key');
    const former = readFileSync(keyFile, 'utf8');
    const audit = join(a.folder.path, 'leak.log');
    await shell.set({
      ADDRESS: a.process.http,
      TOKEN: a.process.rootToken,
      API: a.process.apiToken,
    });
    await shell.set({ AUDIT: audit, DEVICE: 'leak' });
    await shell.paste(
      'a audit/leak "{\\"type\\":\\"file\\",\\"options\\":{\\"file_path\\":\\"$AUDIT\\"}}"',
    );
    await shell.paste(`
      LEAKED=$(curl -s -H "X-Service-Token: $TOKEN" "$ADDRESS/v1/auth/token/create" -d '{"policies":["root"],"display_name":"leaked"}' | field auth.client_token)
      curl -s -o /dev/null -H "X-Service-Token: $LEAKED" "$ADDRESS/v1/sys/mounts"
      OWNER=$(curl -s -H "Authorization: Bearer $API" "$ADDRESS/api/v2/account/details" | field data.id)
      LEAKED_API=$(curl -s -H "Authorization: Bearer $API" -H 'Content-Type: application/vnd.api+json' "$ADDRESS/api/v2/users/$OWNER/authentication-tokens" -d '{"data":{"type":"authentication-tokens","attributes":{"description":"leaked"}}}' | field data.attributes.token)
      curl -s -o /dev/null -H "Authorization: Bearer $LEAKED_API" "$ADDRESS/api/v2/organizations"`);
    const printed = await follow('leaked-secret');
    expect(await shell.paste('echo "$TOKEN_ID"')).toMatch(/^at-\w+$/);
    expect(printed[2]).toContain(await shell.paste('echo "$TOKEN_ID $OWNER "'));
    const uses = (printed.at(-2) ?? '')
      .split('\n')
      .map((line) => line.split(' ').slice(2).join(' '));
    expect(uses).toEqual([
      'read sys/mounts',
      'read api/v2/organizations',
      'read api/v2/account/details',
    ]);
    const statuses = await shell.paste(
      'curl -s -o /dev/null -w "%{http_code} " -H "X-Service-Token: $LEAKED" "$ADDRESS/v1/sys/mounts"; curl -s -o /dev/null -w "%{http_code}" -H "Authorization: Bearer $LEAKED_API" "$ADDRESS/api/v2/organizations"',
    );
    expect(statuses).toBe('403 401');
    expect(readFileSync(keyFile, 'utf8')).not.toBe(former);
  },

  'who-did-it': async () => {
    await shell.set({ LOG: join(a.process.dataFolder, 'keelson.log'), CHANGED: 'pki/roles/web' });
    await shell.paste(`
      jsonapi() { curl -s -H "Authorization: Bearer $API" -H 'Content-Type: application/vnd.api+json' "$ADDRESS/api/v2/$1" -d "$2"; }
      jsonapi organizations '{"data":{"type":"organizations","attributes":{"name":"whose","email":"a@b.example"}}}'
      WORKSPACE=$(jsonapi organizations/whose/workspaces '{"data":{"type":"workspaces","attributes":{"name":"shop"}}}' | field data.id)
      a mounts/pki '{"type":"pki"}'
      root() { curl -s -H "X-Service-Token: $TOKEN" "$ADDRESS/v1/pki/$1" -d "$2"; }
      root root/generate/internal '{"common_name":"Root","key_type":"ec"}'
      root roles/web '{"allow_any_name":true}'
      SERIAL=$(root issue/web '{"common_name":"a.example.com","ttl":"24h"}' | field data.serial_number)
      root revoke "{\\"serial_number\\":\\"$SERIAL\\"}"`);
    // A thread of its own writes the log, after the answer.
    await expect
      .poll(() => readFileSync(join(a.process.dataFolder, 'keelson.log'), 'utf8'))
      .toContain('"path":"/v1/pki/revoke"');
    const [, made, role, revoked, told] = await follow('who-did-it');
    expect(made).toMatch(
      /^\S+ admin user-\w+ update api\/v2\/organizations\/whose\/workspaces \S+$/,
    );
    expect(role).toMatch(/^\S+ root - update pki\/roles\/web \S+$/);
    expect(revoked).toMatch(/^\S+ root - update pki\/revoke \S+$/m);
    expect(told).toMatch(
      /^root\n\S+ root - update pki\/revoke \S+\n\{.*"path":"\/v1\/pki\/revoke"/,
    );
    await shell.paste(
      'curl -s -X DELETE -H "X-Service-Token: $TOKEN" "$ADDRESS/v1/sys/audit/leak"',
    );
  },

  'slow-request': async () => {
    await shell.set({ LOG: join(a.process.dataFolder, 'keelson.log') });
    const [printed = ''] = await shell.follow('slow-request');
    const rows = printed.split('\n');
    expect(rows).toHaveLength(20);
    for (const row of rows)
      expect(row).toMatch(/^[A-Z]+ \S* (?:\/\S*|\(none\))\t\d+\t[\d.]+\t[\d.]+$/);
    const medians = rows.map((row) => Number(row.split('\t')[2]));
    expect(medians).toEqual(medians.toSorted((one, other) => other - one));
  },

  // On a disk that is full: full-disk.integration.test.ts.
  'disk-full': async () => {
    await shell.set({ ADDRESS: a.process.http });
    const [seen, waited] = await follow('disk-full');
    expect(seen).toContain('pki.sqlite');
    expect(waited).toContain('"status":"ready"');
  },

  'audit-device-broken': async () => {
    const log = join(a.folder.path, 'audit', 'log');
    await mkdir(join(a.folder.path, 'audit'));
    await shell.set({ ADDRESS: a.process.http, TOKEN: a.process.rootToken, LOG: log });
    await shell.paste(
      'a audit/broken "{\\"type\\":\\"file\\",\\"options\\":{\\"file_path\\":\\"$LOG\\"}}"',
    );
    await a.process.stop();
    await rm(join(a.folder.path, 'audit'), { recursive: true });
    await startAgain(a, { KEELSON_AUDIT_REQUIRED: 'false' });
    const devices = 'curl -s -H "X-Service-Token: $TOKEN" "$A/v1/sys/audit" | field data';
    expect(await shell.paste(devices)).toContain('broken/');
    await shell.set({ ADDRESS: a.process.http, NAME: 'broken' });
    await follow('audit-device-broken');
    await a.process.stop();
    await startAgain(a);
    expect(await shell.paste(devices)).toBe('{}');
  },
};

describe('the pages', () => {
  test('are all listed', () => {
    const pages = readdirSync(new URL('../../../../docs/runbooks/', import.meta.url))
      .filter((file) => file.endsWith('.md'))
      .map((file) => file.slice(0, -'.md'.length));
    expect(Object.keys(STORY).concat('README').sort()).toEqual(pages.sort());
    for (const page of pages) expect([page, blocksOf(page).length > 0]).toEqual([page, true]);
  });

  // One story: a page needs those before it.
  test.for(Object.entries(STORY))('%s works as written', { timeout: WITHIN_MS }, ([, follows]) =>
    expect(follows()).resolves.toBeUndefined(),
  );

  test('leave a secondary that has everything', { timeout: WITHIN_MS }, async () => {
    await shell.paste('until_streaming "$B" dr; until_equal "$A" "$B" dr');
    expect(await stateOf(b, 'dr', 'state')).toBe('stream-wals');
  });
});
