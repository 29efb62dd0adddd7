/**
 * The vendor's command line, unchanged: its logins, its agent, which signs in by itself and writes files from
 * templates, its checks of an authority, and what an operator types.
 */
import { execFile, spawn } from 'node:child_process';
import { randomUUID, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  bareEnvironment,
  findFreePort,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { type Browser, launchChromium } from '@keelson/testkit/chromium';
import { type KubernetesApi, startKubernetesApi } from '@keelson/testkit/kubernetes-api';
import { DIRECTORY_READER, type Directory, startDirectory } from '@keelson/testkit/ldap-directory';
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '@keelson/testkit/openid-provider';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildVault } from './vault-program.ts';

const run = promisify(execFile);
const VAULT = await buildVault();
/** Where the browser comes back to the command; 8250 unless it is given. */
const callbackPort = await findFreePort();
const CALLBACK = `http://localhost:${callbackPort}/oidc/callback`;

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
let directory: Directory;
let kubernetes: KubernetesApi;
let provider: OpenIdProvider;
let browser: Browser;

interface Options {
  readonly token?: string;
  /** Address of the server; the plain one by default. */
  readonly address?: string;
  /** Where the token of a login is stored. */
  readonly home?: string;
}

const environmentOf = ({ token, address, home }: Options = {}) => ({
  ...bareEnvironment(home ?? folder.path),
  VAULT_ADDR: address ?? keelson.http,
  VAULT_CACERT: join(keelson.dataFolder, 'tls/ca.pem'),
  ...(token !== undefined && { VAULT_TOKEN: token }),
});

/** @throws Error with what the command prints if it does not end with status 0 */
const vault = async (given: readonly string[], options?: Options): Promise<string> =>
  (await run(VAULT, [...given], { env: environmentOf(options) })).stdout;

const asRoot = (...given: readonly string[]): Promise<string> =>
  vault(given, { token: keelson.rootToken });

const newHome = async (): Promise<string> => {
  const home = join(folder.path, randomUUID());
  await mkdir(home);
  return home;
};

/** Policies and display name of the token that is stored in a home. */
const storedToken = async (home: string) => {
  const { data } = JSON.parse(await vault(['token', 'lookup', '-format=json'], { home })) as {
    readonly data: { readonly policies: readonly string[]; readonly display_name: string };
  };
  return { policies: data.policies, name: data.display_name };
};

const clientCertificate = async (): Promise<{ readonly cert: string; readonly key: string }> => {
  const { data } = JSON.parse(
    await asRoot('write', '-format=json', 'pki/issue/web', 'common_name=ops.example.com'),
  ) as { readonly data: { readonly certificate: string; readonly private_key: string } };
  const own = await newHome();
  const files = { cert: join(own, 'cert.pem'), key: join(own, 'key.pem') };
  await writeFile(files.cert, data.certificate);
  await writeFile(files.key, data.private_key);
  return files;
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  [directory, kubernetes, provider, browser] = await Promise.all([
    startDirectory(),
    startKubernetesApi(),
    startOpenIdProvider(),
    launchChromium(),
  ]);
  provider.register(CALLBACK);
  kubernetes.reviewers.add('reviewer');
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_OUTBOUND_RANGES: '127.0.0.0/8' },
  });
  const policy = join(folder.path, 'web.hcl');
  await writeFile(policy, 'path "pki/issue/web" { capabilities = ["update"] }\n');
  const clusterCa = join(folder.path, 'cluster.pem');
  await writeFile(clusterCa, kubernetes.caPem);
  await asRoot('policy', 'write', 'web', policy);
  await asRoot('secrets', 'enable', '-max-lease-ttl=8760h', 'pki');
  const root = ['common_name=Example Root', 'key_type=ec', 'ttl=8000h'];
  await asRoot('write', 'pki/root/generate/internal', ...root);
  const rules = ['allowed_domains=example.com', 'allow_subdomains=true', 'key_type=ec'];
  await asRoot('write', 'pki/roles/web', ...rules, 'ttl=1h', 'not_before_duration=0s');
  for (const method of ['userpass', 'ldap', 'cert', 'oidc', 'approle', 'jwt', 'kubernetes'])
    await asRoot('auth', 'enable', method);

  await asRoot('write', 'auth/userpass/users/ann', 'password=right', 'token_policies=web');
  await asRoot(
    'write',
    'auth/ldap/config',
    `url=${directory.url}`,
    `binddn=${DIRECTORY_READER.binddn}`,
    `bindpass=${DIRECTORY_READER.bindpass}`,
    'userdn=ou=people,dc=example,dc=com',
    'userattr=uid',
    'token_policies=web',
  );
  const authority = join(folder.path, 'authority.pem');
  await writeFile(authority, await asRoot('read', '-field=certificate', 'pki/issuer/default'));
  const names = 'allowed_common_names=ops.example.com';
  await asRoot(
    'write',
    'auth/cert/certs/ops',
    `certificate=@${authority}`,
    names,
    'token_policies=web',
  );
  await asRoot(
    'write',
    'auth/oidc/config',
    `oidc_discovery_url=${provider.issuer}`,
    `oidc_client_id=${CLIENT.oidc_client_id}`,
    `oidc_client_secret=${CLIENT.oidc_client_secret}`,
    'default_role=people',
  );
  await asRoot(
    'write',
    'auth/oidc/role/people',
    'user_claim=sub',
    `allowed_redirect_uris=${CALLBACK}`,
    'token_policies=web',
  );
  await asRoot('write', 'auth/approle/role/ci', 'token_policies=web', 'token_period=1h');
  await asRoot('write', 'auth/jwt/config', `jwt_validation_pubkeys=${kubernetes.publicPem}`);
  const job = ['role_type=jwt', 'bound_audiences=keelson', 'user_claim=sub'];
  await asRoot('write', 'auth/jwt/role/job', ...job, 'token_policies=web');
  await asRoot(
    'write',
    'auth/kubernetes/config',
    `kubernetes_host=${kubernetes.url}`,
    `kubernetes_ca_cert=@${clusterCa}`,
    'token_reviewer_jwt=reviewer',
  );
  await asRoot(
    'write',
    'auth/kubernetes/role/web',
    'bound_service_account_names=web',
    'bound_service_account_namespaces=shop',
    'audience=keelson',
    'token_policies=web',
  );
});
afterAll(async () => {
  await keelson?.stop();
  await browser?.close();
  await directory?.stop();
  await kubernetes?.stop();
  await provider?.[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const secretIdOf = async (): Promise<{ readonly roleId: string; readonly secretId: string }> => ({
  roleId: (await asRoot('read', '-field=role_id', 'auth/approle/role/ci/role-id')).trim(),
  secretId: (
    await asRoot('write', '-f', '-field=secret_id', 'auth/approle/role/ci/secret-id')
  ).trim(),
});

/** The token of a service account, which its cluster has signed. */
const account = (): string => kubernetes.issue('shop/web', ['keelson']);

/** The text that a command writes to a stream, and the first address in it. */
const watchOutput = (stream: Readable) => {
  const { promise: address, resolve } = Promise.withResolvers<string>();
  let shown = '';
  stream.on('data', (piece) => {
    shown += String(piece);
    const found = /http:\S+(?=\s)/.exec(shown)?.[0];
    if (found !== undefined) resolve(found);
  });
  return { address, shown: () => shown };
};

describe('a login', () => {
  test('by a name and a password', async () => {
    const home = await newHome();
    const login = ['login', '-method=userpass', 'username=ann'];
    await vault([...login, 'password=right'], { home });
    expect(await storedToken(home)).toEqual({ policies: ['default', 'web'], name: 'userpass-ann' });
    await expect(vault([...login, 'password=wrong'], { home })).rejects.toThrow(/Code: 400/);
  });

  test('by a client certificate', async () => {
    const home = await newHome();
    const { cert, key } = await clientCertificate();
    const files = [`-client-cert=${cert}`, `-client-key=${key}`];
    const address = keelson.https;
    await vault(['login', '-method=cert', ...files, 'name=ops'], { home, address });
    expect(await storedToken(home)).toEqual({
      policies: ['default', 'web'],
      name: 'cert-ops',
    });
  });

  test('by the browser, which comes back to the command', async () => {
    const home = await newHome();
    const given = ['login', '-method=oidc', 'skip_browser=true', `port=${callbackPort}`];
    const child = spawn(VAULT, given, { env: environmentOf({ home }), stdio: 'pipe' });
    onTestFinished(() => void child.kill());
    const { address, shown } = watchOutput(child.stderr);
    const ended = once(child, 'close');
    const page = await browser.newPage();
    await page.goto(await address);
    await page.getByPlaceholder('Enter any login').fill('grace');
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    const [status] = await ended;
    expect([status, shown()]).toEqual([0, expect.stringContaining('Waiting for OIDC')]);
    expect(await storedToken(home)).toEqual({ policies: ['default', 'web'], name: 'oidc-grace' });
    await page.close();
  });

  test('by a token, which is looked up first', async () => {
    const home = await newHome();
    await vault(['login', keelson.rootToken], { home });
    expect((await storedToken(home)).policies).toEqual(['root']);
    await expect(vault(['login', 'hvs.unknown'], { home })).rejects.toThrow(/Code: 403/);
  });

  test('of machines and of a directory, by what they write', async () => {
    const { roleId, secretId } = await secretIdOf();
    for (const given of [
      ['auth/approle/login', `role_id=${roleId}`, `secret_id=${secretId}`],
      ['auth/jwt/login', 'role=job', `jwt=${account()}`],
      ['auth/ldap/login/alice', 'password=password of alice'],
      ['auth/kubernetes/login', 'role=web', `jwt=${account()}`],
    ]) {
      const token = (await vault(['write', '-field=token', ...given])).trim();
      const { data } = JSON.parse(await vault(['token', 'lookup', '-format=json'], { token }));
      expect([given[0], data.policies]).toEqual([given[0], ['default', 'web']]);
    }
  });

  test('asks for a second factor, without which there is no token', async () => {
    await asRoot('auth', 'enable', '-path=factors', 'userpass');
    await asRoot('write', 'auth/factors/users/eve', 'password=right');
    const methodId = (
      await asRoot('write', '-field=method_id', 'identity/mfa/method/totp', 'issuer=Keelson')
    ).trim();
    const mounts = JSON.parse(await asRoot('auth', 'list', '-format=json')) as Readonly<
      Record<string, { readonly accessor: string }>
    >;
    const enforcement = 'identity/mfa/login-enforcement/factors';
    const accessor = mounts['factors/']?.accessor ?? '';
    const scope = [`mfa_method_ids=${methodId}`, `auth_method_accessors=${accessor}`];
    await asRoot('write', enforcement, ...scope);

    const home = await newHome();
    const login = ['login', '-method=userpass', '-path=factors', '-non-interactive'];
    const asked = await vault([...login, 'username=eve', 'password=right'], { home });
    const requestId = /mfa_request_id\s+(\S+)/.exec(asked)?.[1] ?? '';
    expect(requestId).not.toBe('');
    const body = join(folder.path, 'validation.json');
    const payload = { mfa_request_id: requestId, mfa_payload: { [methodId]: ['000000'] } };
    await writeFile(body, JSON.stringify(payload));
    await expect(vault(['write', 'sys/mfa/validate', `@${body}`], { home })).rejects.toThrow(
      /Code: 40/,
    );
    await expect(vault(['token', 'lookup'], { home })).rejects.toThrow(
      /Code: 40|missing client token/,
    );
  });
});

describe('the agent', () => {
  /** Files from which the methods sign in. */
  const methodsOf = async (own: string): Promise<Readonly<Record<string, string>>> => {
    const { roleId, secretId } = await secretIdOf();
    const { cert, key } = await clientCertificate();
    const files = {
      role: roleId,
      secret: secretId,
      account: account(),
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(own, name), content);
    return {
      approle: `role_id_file_path = "${own}/role"
        secret_id_file_path = "${own}/secret"
        remove_secret_id_file_after_reading = false`,
      jwt: `path = "${own}/account"
        role = "job"
        remove_jwt_after_reading = false`,
      kubernetes: `role = "web"
        token_path = "${own}/account"`,
      cert: `name = "ops"
        client_cert = "${cert}"
        client_key = "${key}"`,
    };
  };

  const configure = async (
    own: string,
    method: string,
    ttl: string,
    more = '',
  ): Promise<string> => {
    const config = `
      auto_auth {
        method "${method}" {
          config {
            ${(await methodsOf(own))[method]}
          }
        }
        sink "file" {
          config { path = "${own}/token" }
        }
      }
      template {
        contents = <<-END
        {{- with pkiCert "pki/issue/web" "common_name=${method}.example.com" "ttl=${ttl}" }}
        {{ .Cert }}{{ .Key }}{{ end }}
        END
        destination = "${own}/web.pem"
      }
      ${more}`;
    const file = join(own, 'agent.hcl');
    await writeFile(file, config);
    return `-config=${file}`;
  };

  test.for(['approle', 'jwt', 'kubernetes', 'cert'])(
    'signs in by %s, and writes a certificate from a template',
    async (method) => {
      const own = await newHome();
      await vault(['agent', await configure(own, method, '30m'), '-exit-after-auth'], {
        home: own,
        address: keelson.https,
      });
      const written = await readFile(join(own, 'web.pem'), 'utf8');
      expect(new X509Certificate(written).subject).toBe(`CN=${method}.example.com`);
      expect(written).toContain('PRIVATE KEY');
      const token = await readFile(join(own, 'token'), 'utf8');
      expect(await vault(['token', 'lookup'], { token })).toMatch(/policies\s+\[default web\]/);
    },
  );

  test('renews the certificate before its end, and answers requests with its own token', async () => {
    const own = await newHome();
    const port = await findFreePort();
    const more = `
      api_proxy { use_auto_auth_token = true }
      listener "tcp" {
        address = "127.0.0.1:${port}"
        tls_disable = true
      }`;
    const serials = new Set<string>();
    await using renewed = watchedFile(own, 'web.pem', (content) => {
      serials.add(new X509Certificate(content).serialNumber);
      return serials.size >= 2;
    });
    const child = spawn(VAULT, ['agent', await configure(own, 'approle', '8s', more)], {
      env: environmentOf({ home: own }),
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill());
    const ended = once(child, 'exit');
    await renewed.happened;
    const address = `http://127.0.0.1:${port}`;
    const issued = [
      'write',
      '-field=certificate',
      'pki/issue/web',
      'common_name=proxy.example.com',
    ];
    const certificate = await vault(issued, { address, home: await newHome() });
    expect(new X509Certificate(certificate).subject).toBe('CN=proxy.example.com');
    child.kill();
    expect((await ended)[0]).toBe(0);
  });
});

/** Waits until the content of a file is as wanted, whenever the folder around it changes. */
const watchedFile = (
  own: string,
  name: string,
  isWanted: (content: string) => boolean,
): AsyncDisposable & { readonly happened: Promise<void> } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(own, () => {
    void readFile(join(own, name), 'utf8').then(
      (content) => {
        if (content.includes('END CERTIFICATE') && isWanted(content)) resolve();
      },
      () => undefined,
    );
  });
  return {
    happened: promise,
    [Symbol.asyncDispose]: async () => watcher.close(),
  };
};

/** Commands of an operator, in order: what is typed, and what the answer contains. */
const TYPED: readonly (readonly [string, RegExp])[] = [
  ['status', /Sealed\s+false/],
  ['secrets list -detailed', /pki\//],
  ['secrets tune -default-lease-ttl=24h -description=Authority pki', /Success/],
  ['read sys/mounts/pki/tune', /default_lease_ttl\s+24h/],
  ['auth list', /kubernetes\//],
  ['auth tune -listing-visibility=unauth userpass', /Success/],
  ['policy list', /web/],
  ['policy read web', /pki\/issue\/web/],
  ['policy delete web-of-nobody', /Success/],
  ['token create -policy=web -ttl=1h -display-name=shop', /token_accessor/],
  ['token capabilities pki/issue/web', /root/],
  ['list auth/token/accessors', /Keys/],
  ['list -detailed pki/issuers', /is_default/],
  ['list pki/roles', /web/],
  ['path-help pki', /pki/i],
  ['pki list-intermediates pki/issuer/default', /No intermediates|match/i],
  ['pki health-check pki', /ca_validity_period/],
  ['namespace create team', /team/],
  ['namespace list', /team\//],
  ['namespace delete team', /status\s+deleted/],
  ['audit list', /No audit devices are enabled/],
  ['operator key-status', /Key Term|Term/],
  ['operator generate-root -status', /Started\s+false/],
  ['operator members', /Host Name/],
  ['lease lookup unknown', /invalid lease/i],
  ['print token', /hvs\.|s\./],
  ['version', /Vault v1/],
];

test.for(TYPED)('vault %s', async ([line, expected]) => {
  const shown = await asRoot(...line.split(' ')).catch(
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => stdout + stderr,
  );
  expect(shown).toMatch(expected);
});
