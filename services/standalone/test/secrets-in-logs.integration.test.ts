/**
 * Every kind of secret goes through a real process with full logging and auditing; none may appear in the
 * logs, or unencrypted in the databases.
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKeelson } from '@keelson/testkit';
import { expect, test } from 'vitest';

const SSH_KEY_LINE = 'sshKEYsshKEYsshKEY';
const SSH_KEY = `-----BEGIN OPENSSH PRIVATE KEY-----\n${SSH_KEY_LINE}\n-----END OPENSSH PRIVATE KEY-----`;

const keelsonWithFolder = async (folder: string) => {
  const keelson = await startKeelson({
    dataFolder: join(folder, 'data'),
    env: { KEELSON_LOG_LEVEL: 'trace' },
  });
  const send = async (
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
    method: string,
  ) => {
    const response = await fetch(keelson.http + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect([path, response.status, text]).toEqual([
      path,
      expect.toSatisfy((status: number) => status < 300),
      text,
    ]);
    // oxlint-disable-next-line typescript/no-explicit-any -- documents of many shapes
    return (text === '' ? undefined : JSON.parse(text)) as any;
  };
  return {
    keelson,
    v1: (path: string, body?: object, headers: Record<string, string> = {}, method = 'POST') =>
      send(`/v1/${path}`, body, { 'x-service-token': keelson.rootToken, ...headers }, method),
    api: (path: string, type: string, attributes: object) =>
      send(
        `/api/v2/${path}`,
        { data: { type, attributes } },
        {
          authorization: `Bearer ${keelson.apiToken}`,
          'content-type': 'application/vnd.api+json',
        },
        'POST',
      ),
  };
};

/** Contents of the databases of a stopped process, including their write-ahead logs. */
const readDatabases = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.sqlite(-wal)?$/.test(path))
    .map((path) => readFileSync(join(folder, path), 'latin1'))
    .join('\n');

test('no secret is in the log, in an audit file or unencrypted in a database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-secrets-'));
  const { keelson, v1, api } = await keelsonWithFolder(folder);
  const secrets: Record<string, string> = {
    'root token': keelson.rootToken,
    'API token': keelson.apiToken,
    'SSH key': SSH_KEY_LINE,
  };
  try {
    const auditFile = join(folder, 'audit.log');
    await v1('sys/audit/file', { type: 'file', options: { file_path: auditFile } });

    const { auth } = await v1('auth/token/create', { policies: ['default'], ttl: '1h' });
    secrets['created token'] = auth.client_token;
    await v1('auth/token/lookup', { token: auth.client_token });

    await v1('sys/mounts/pki', { type: 'pki' });
    await v1('pki/root/generate/internal', {
      common_name: 'Log CA',
      key_type: 'ec',
      key_bits: 256,
    });
    await v1('pki/roles/any', { allow_any_name: true, key_type: 'ec', key_bits: 256 });
    const issued = await v1('pki/issue/any', { common_name: 'a.example.com', ttl: '1h' });
    secrets['private key'] = (issued.data.private_key as string).split('\n')[1] ?? '';

    const wrapping = { 'x-service-wrap-ttl': '60' };
    const { wrap_info } = await v1('sys/wrapping/wrap', { word: 'wrappedVALUEwrapped' }, wrapping);
    secrets['wrapping token'] = wrap_info.token;
    secrets['wrapped value'] = 'wrappedVALUEwrapped';
    expect((await v1('sys/wrapping/unwrap', { token: wrap_info.token })).data.word).toBe(
      'wrappedVALUEwrapped',
    );

    await v1('identity/oidc/client/app', {});
    const client = await v1('identity/oidc/client/app', undefined, {}, 'GET');
    secrets['client secret'] = client.data.client_secret;

    const { unseal_keys: shares } = JSON.parse(
      readFileSync(join(keelson.dataFolder, 'first-run.json'), 'utf8'),
    ) as { unseal_keys: string[] };
    const { nonce, otp } = await v1('sys/generate-root/attempt', {});
    secrets['one-time password'] = otp;
    for (const [index, key] of shares.entries()) {
      secrets[`share ${index}`] = key;
      const { complete } = await v1('sys/generate-root/update', { nonce, key });
      if (complete === true) break;
    }

    await api('organizations', 'organizations', { name: 'acme', email: 'ops@example.com' });
    await api('organizations/acme/ssh-keys', 'ssh-keys', { name: 'deploy', value: SSH_KEY });
    const token = await api('organizations/acme/authentication-token', 'authentication-tokens', {});
    secrets['organization token'] = token.data.attributes.token;

    secrets['repository token'] = 'repositoryTOKENrepository';
    await api('organizations/acme/oauth-clients', 'oauth-clients', {
      'service-provider': 'github',
      'http-url': 'https://github.example',
      'api-url': 'https://api.github.example',
      'oauth-token-string': secrets['repository token'],
    });
    const keys = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    secrets['private key of an OAuth client'] = keys.privateKey.split('\n')[5] ?? '';
    const linked = await api('organizations/acme/oauth-clients', 'oauth-clients', {
      'service-provider': 'bitbucket_data_center',
      'http-url': 'https://bitbucket.example',
      'api-url': 'https://bitbucket.example',
      key: 'keelson',
      secret: keys.privateKey,
      'rsa-public-key': keys.publicKey,
    });
    const ended = `oauth-clients/${linked.data.id as string}/actions/complete-authorization`;
    secrets['verifier of an authorization'] = 'verifierVALUEverifier';
    await fetch(`${keelson.http}/api/v2/${ended}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keelson.apiToken}`,
        'content-type': 'application/vnd.api+json',
      },
      body: JSON.stringify({
        data: {
          type: 'oauth-authorizations',
          attributes: {
            'oauth-token': 'unknown',
            'oauth-verifier': secrets['verifier of an authorization'],
          },
        },
      }),
    });
    const { data: workspace } = await api('organizations/acme/workspaces', 'workspaces', {
      name: 'app',
    });
    const at = `workspaces/${workspace.id as string}`;
    secrets['variable'] = 'variableVALUEvariable';
    const variable = { key: 'secret', category: 'env', sensitive: true };
    await api(`${at}/vars`, 'vars', { ...variable, value: secrets['variable'] });
    secrets['output'] = 'outputVALUEoutput';
    const outputs = { secret: { value: secrets['output'], type: 'string', sensitive: true } };
    const state = Buffer.from(JSON.stringify({ version: 4, serial: 1, outputs }));
    secrets['state'] = state.toString('base64');
    await api(`${at}/actions/lock`, '', {});
    await api(`${at}/state-versions`, 'state-versions', {
      serial: 1,
      md5: createHash('md5').update(state).digest('hex'),
      state: secrets['state'],
    });

    const { data: version } = await api(`${at}/state-versions`, 'state-versions', {
      serial: 2,
      md5: createHash('md5').update('{}').digest('hex'),
    });
    const upload = new URL(version.attributes['hosted-state-upload-url'] as string);
    secrets['signature of an upload'] = upload.searchParams.get('signature') ?? '';
    await fetch(upload, { method: 'PUT', body: '{}' });
    secrets['signature in a path'] = 'signatureSIGNATUREsignature';
    await fetch(
      `${keelson.http}/api/v2/downloads/logs/plan-x/1900000000/${secrets['signature in a path']}`,
    );

    await fetch(`${keelson.http}/v1/sys/mounts`, {
      headers: { 'x-service-token': 'hvs.wrongTOKENwrongTOKEN' },
    });
    secrets['refused token'] = 'wrongTOKENwrongTOKEN';

    const redirectUri = 'http://localhost:10000/login';
    secrets['verifier of a command'] = 'verifierOFaCommandverifierOFaCommandverifier';
    const login = await api('command-logins', 'command-logins', {
      'response-type': 'code',
      'client-id': 'terraform-cli',
      'redirect-uri': redirectUri,
      'code-challenge': createHash('sha256')
        .update(secrets['verifier of a command'])
        .digest('base64url'),
      'code-challenge-method': 'S256',
      state: 'state',
      approved: true,
    });
    const goesTo = new URL(login.data.attributes['redirect-to'] as string);
    secrets['code of a command'] = goesTo.searchParams.get('code') ?? '';
    const exchanged = await fetch(`${keelson.http}/api/v2/command-logins/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: 'terraform-cli',
        code: secrets['code of a command'],
        redirect_uri: redirectUri,
        code_verifier: secrets['verifier of a command'],
      }),
    });
    const { access_token } = (await exchanged.json()) as { readonly access_token: string };
    secrets['token of a command'] = access_token;

    await fetch(`${keelson.http}/api/v2/admin/sign-in-settings`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${keelson.apiToken}`,
        'content-type': 'application/vnd.api+json',
      },
      body: JSON.stringify({
        data: { type: 'sign-in-settings', attributes: { 'passwords-enabled': true } },
      }),
    });
    secrets['secret of a client'] = 'secretOFaCLIENTofSSO';
    await fetch(`${keelson.http}/api/v2/admin/sso-settings`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${keelson.apiToken}`,
        'content-type': 'application/vnd.api+json',
      },
      body: JSON.stringify({
        data: {
          type: 'sso-settings',
          attributes: { 'client-secret': secrets['secret of a client'] },
        },
      }),
    });
    secrets['password of an account'] = 'passwordOFanAccount';
    secrets['recovery code'] = 'recovery-CODE-of-an-account';
    const refused = await fetch(`${keelson.http}/api/v2/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify({
        data: {
          type: 'sessions',
          attributes: {
            login: 'admin',
            password: secrets['password of an account'],
            'recovery-code': secrets['recovery code'],
          },
        },
      }),
    });
    expect(refused.status).toBe(401);

    await keelson.stop();
    const kept = {
      log: readFileSync(join(keelson.dataFolder, 'keelson.log'), 'utf8'),
      audit: readFileSync(auditFile, 'utf8'),
      databases: readDatabases(keelson.dataFolder),
    };
    expect(kept.log).toContain('/v1/pki/issue/any');
    expect(kept.audit).toContain('"path":"pki/issue/any"');
    expect(kept.databases).toContain(workspace.id);
    for (const [name, secret] of Object.entries(secrets)) {
      expect([name, secret.length]).toEqual([
        name,
        expect.toSatisfy((length: number) => length > 12),
      ]);
      for (const [file, text] of Object.entries(kept))
        expect([name, file, text.includes(secret)]).toEqual([name, file, false]);
    }
  } finally {
    await keelson.stop();
    rmSync(folder, { recursive: true });
  }
});
