/** `login`, `logout`, `token`, `policy`. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { Document } from '../client/api-client.ts';
import { CliFailure } from '../client/failure.ts';
import { readSecret, readSecretLine } from '../client/terminal.ts';
import { forgetTokens, keepToken } from '../client/token-files.ts';
import { makeToken } from './ceremony.ts';
import type { Cli } from './cli.ts';

/** Reads a file, or standard input for "-". */
export const readInput = async (file: string): Promise<string> => {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CliFailure(`${file} cannot be read: ${(error as Error).message}`);
  }
};

const METHODS = ['userpass', 'ldap', 'approle', 'cert', 'jwt', 'kubernetes', 'oidc'] as const;

interface LoginOptions {
  readonly api?: true;
  readonly method?: (typeof METHODS)[number];
  readonly path?: string;
  readonly username?: string;
  readonly roleId?: string;
  readonly role?: string;
  readonly device?: true;
  readonly direct?: true;
  readonly clientCert?: string;
  readonly clientKey?: string;
}

const required = (value: string | undefined, option: string): string => {
  if (value === undefined) throw new CliFailure(`${option} is missing`);
  return value;
};

/** Signs in through a browser, which the user opens. */
const signInByBrowser = async (
  cli: Cli,
  mount: string,
  role: string | undefined,
): Promise<Document> => {
  // Loaded by this login alone, since other commands begin faster without a server.
  const { awaitBrowser, REDIRECT_URI } = await import('../client/browser-answer.ts');
  const nonce = randomUUID();
  const anonymous = { isAnonymous: true } as const;
  const answer = await awaitBrowser(async () => {
    const { data } = await cli.client.v1(`auth/${mount}/oidc/auth_url`, {
      method: 'POST',
      body: {
        redirect_uri: REDIRECT_URI,
        client_nonce: nonce,
        ...(role !== undefined && { role }),
      },
      ...anonymous,
    });
    if (data.auth_url === '')
      throw new CliFailure(
        `The role does not allow ${REDIRECT_URI}: add it to its allowed_redirect_uris.`,
      );
    process.stderr.write(`Open this address in a browser:\n\n${data.auth_url}\n\n`);
  });
  const failure = answer.get('error');
  if (failure !== null)
    throw new CliFailure(
      `The provider has refused the login: ${answer.get('error_description') ?? failure}.`,
    );
  const query = new URLSearchParams({
    state: answer.get('state') ?? '',
    code: answer.get('code') ?? '',
    iss: answer.get('iss') ?? '',
    client_nonce: nonce,
  });
  return cli.client.v1(`auth/${mount}/oidc/callback?${query.toString()}`, anonymous);
};

/** Where the browser ends, if it does not come back to the command. */
type Ending = 'device' | 'direct';

/**
 * Signs in by a page that the user opens on any machine, and asks until that has happened: at the provider (`device`),
 * or at Keelson itself (`direct`).
 */
const signInElsewhere = async (
  cli: Cli,
  ending: Ending,
  mount: string,
  role: string | undefined,
): Promise<Document> => {
  const client_nonce = randomUUID();
  const post = (name: string, body: object, accept: readonly number[] = []): Promise<Document> =>
    cli.client.v1(`auth/${mount}/oidc/${name}`, {
      method: 'POST',
      body: { client_nonce, ...body },
      accept,
      isAnonymous: true,
    });
  const redirect_uri = new URL(`/v1/auth/${mount}/oidc/callback`, cli.address).href;
  const { data } = await post('auth_url', {
    ...(role !== undefined && { role }),
    ...(ending === 'direct' && { redirect_uri }),
  });
  if (data.auth_url === '')
    throw new CliFailure(
      `The role does not allow ${redirect_uri}: add it to its allowed_redirect_uris, or name the server by the address that they have.`,
    );
  if (data.state === undefined)
    throw new CliFailure(`The role has no callback_mode ${ending}: leave out --${ending}.`);
  const code = data.user_code === undefined ? '' : `Type the code ${data.user_code} there.\n\n`;
  process.stderr.write(`Open this address in a browser:\n\n${data.auth_url}\n\n${code}`);
  let delayMs = Number(data.poll_interval) * 1000;
  for (;;) {
    await setTimeout(delayMs);
    const answer = await post('poll', { state: data.state }, [400]);
    if (answer.errors === undefined) return answer;
    const [text] = answer.errors;
    // RFC 8628 §3.5
    if (text === 'slow_down') delayMs += 5000;
    else if (text !== 'authorization_pending')
      throw new CliFailure(`Nobody is signed in: ${text}.`);
  }
};

const endingOf = ({ device, direct }: LoginOptions): Ending | undefined => {
  if (device === true) return 'device';
  return direct === true ? 'direct' : undefined;
};

/** Signs in with the certificate of the connection. */
const signInByCertificate = async (
  cli: Cli,
  at: string,
  { role, clientCert, clientKey }: LoginOptions,
): Promise<Document> => {
  const { fetchWith, readClientCertificate } = await import('../client/certificate-fetch.ts');
  const certificate = readClientCertificate(
    required(clientCert, '--client-cert'),
    required(clientKey, '--client-key'),
  );
  const body = role === undefined ? {} : { name: role };
  const client = cli.clientWith({}, { send: fetchWith(certificate) });
  return client.v1(at, { method: 'POST', body, isAnonymous: true });
};

/** Finishes a login that waits for passcodes, one for each constraint. */
const withSecondFactor = async (cli: Cli, requirement: Document): Promise<Document> => {
  const payload: Record<string, readonly string[]> = {};
  for (const [enforcement, { any }] of Object.entries<Document>(requirement.mfa_constraints)) {
    const method = any.find((one: Document) => one.uses_passcode === true);
    if (method === undefined)
      throw new CliFailure(
        `The login enforcement "${enforcement}" needs a passkey, which only a browser has: sign in at the console.`,
      );
    const { id, name } = method;
    payload[id] ??= [await readSecretLine(name === '' ? 'Passcode' : `Passcode of ${name}`)];
  }
  const { auth } = await cli.client.v1('sys/mfa/validate', {
    method: 'POST',
    body: { mfa_request_id: requirement.mfa_request_id, mfa_payload: payload },
    isAnonymous: true,
  });
  return auth;
};

/** The token of a login; what proves it is read from standard input or a prompt. */
const signIn = async (
  cli: Cli,
  method: NonNullable<LoginOptions['method']>,
  options: LoginOptions,
): Promise<string> => {
  const { path = method, username, roleId, role } = options;
  const at = `auth/${path}/login`;
  const post = (login: string, body: object): Promise<Document> =>
    cli.client.v1(login, { method: 'POST', body, isAnonymous: true });
  const withPassword = async () =>
    post(`${at}/${encodeURIComponent(required(username, '--username'))}`, {
      password: await readSecretLine('Password'),
    });
  const requests = {
    userpass: withPassword,
    ldap: withPassword,
    approle: async () =>
      post(at, {
        role_id: required(roleId, '--role-id'),
        secret_id: await readSecretLine('Secret id'),
      }),
    // A mount may have a role for logins that name none.
    jwt: async () =>
      post(at, { jwt: await readSecretLine('Signed token'), ...(role !== undefined && { role }) }),
    kubernetes: async () =>
      post(at, {
        role: required(role, '--role'),
        jwt: await readSecretLine('Token of the service account'),
      }),
    cert: async () => signInByCertificate(cli, at, options),
    oidc: async () => {
      const ending = endingOf(options);
      return ending === undefined
        ? signInByBrowser(cli, path, role)
        : signInElsewhere(cli, ending, path, role);
    },
  };
  const { auth } = await requests[method]();
  return (auth.mfa_requirement === null ? auth : await withSecondFactor(cli, auth.mfa_requirement))
    .client_token;
};

const login = async (cli: Cli, options: LoginOptions): Promise<void> => {
  const isApi = options.api === true;
  const token =
    options.method === undefined
      ? await readSecret('Token')
      : await signIn(cli, options.method, options);
  const kind = isApi ? 'api-token' : 'token';
  const tried = cli.clientWith({
    [isApi ? 'KEELSON_API_TOKEN' : 'KEELSON_TOKEN']: token,
  });
  // Stored only if the server accepts it.
  await (isApi ? tried.api('account/details') : tried.v1('auth/token/lookup-self'));
  const file = keepToken(cli.environment, kind, token);
  cli.print({ file }, `Logged in. The token is in ${file}.`);
};

interface CreateOptions {
  readonly policy: readonly string[];
  readonly displayName?: string;
  readonly ttl?: string;
  readonly period?: string;
  readonly orphan?: true;
}

interface RevokeOptions {
  readonly accessor?: string;
  readonly apiToken?: string;
}

const createToken = async (cli: Cli, options: CreateOptions): Promise<void> => {
  const made = await cli.client.v1('auth/token/create', {
    method: 'POST',
    body: {
      policies: options.policy,
      ...(options.displayName !== undefined && { display_name: options.displayName }),
      ...(options.ttl !== undefined && { ttl: options.ttl }),
      ...(options.period !== undefined && { period: options.period }),
      ...(options.orphan === true && { no_parent: true }),
    },
  });
  // The only output, so that a script can capture it.
  cli.print(made.auth, made.auth.client_token);
};

const listTokens = async (cli: Cli): Promise<void> => {
  const { client } = cli;
  const { data } = await client.v1('auth/token/accessors?list=true');
  const tokens: Document[] = [];
  for (const accessor of data.keys as readonly string[]) {
    const body = { accessor };
    // A token may end while the list is read.
    const answer = await client.v1('auth/token/lookup-accessor', {
      method: 'POST',
      body,
      accept: [403, 404],
    });
    if (answer?.data !== undefined) tokens.push(answer.data);
  }
  cli.printTable(tokens, [
    ['ACCESSOR', 'NAME', 'POLICIES', 'EXPIRES'],
    ...tokens.map(({ accessor, display_name, policies, expire_time }) => [
      accessor,
      display_name,
      policies.join(','),
      expire_time ?? 'never',
    ]),
  ]);
};

/** Every token of the site for its administrators, else the own ones. */
const listApiTokens = async (cli: Cli): Promise<void> => {
  const { client } = cli;
  const { id, attributes: account } = (await client.api('account/details')).data;
  const path =
    account['is-site-admin'] === true
      ? 'admin/authentication-tokens'
      : `users/${id}/authentication-tokens`;
  const tokens = await client.apiList(path);
  cli.printTable(tokens, [
    ['ID', 'OWNER', 'DESCRIPTION', 'LAST USED', 'EXPIRES'],
    ...tokens.map(({ id, attributes, relationships }) => [
      id,
      relationships.owner?.data?.id ?? '',
      attributes.description ?? '',
      attributes['last-used-at'] ?? 'never',
      attributes['expired-at'] ?? 'never',
    ]),
  ]);
};

const addTokenCommands = (program: Command, cli: Cli): void => {
  const token = program.command('token').description('Tokens of /v1 and /api/v2.');
  token
    .command('lookup')
    .description('Show the token that is used.')
    .action(async () => {
      const { id: _secret, ...shown } = (await cli.client.v1('auth/token/lookup-self')).data;
      cli.printFields(shown);
    });
  token
    .command('create')
    .description('Make a token and print it.')
    .option('--policy <name...>', 'policies of the token', [])
    .option('--display-name <name>', 'name by which lists and audit entries show it')
    .option('--ttl <duration>', 'lifetime, such as 1h')
    .option('--period <duration>', 'lifetime after each renewal, without an end')
    .option('--orphan', 'keep it when the token that is used is revoked')
    .action((options: CreateOptions) => createToken(cli, options));
  token
    .command('generate-root')
    .description('Make a root token from key shares on standard input, and print it.')
    .action(() => makeToken(cli, 'sys/generate-root'));
  token
    .command('list')
    .description('List the tokens of the namespace with their policies and expiry.')
    .option('--api', 'tokens of /api/v2: the own ones, or all for a site administrator')
    .action(({ api }: { readonly api?: true }) =>
      api === true ? listApiTokens(cli) : listTokens(cli),
    );
  token
    .command('renew')
    .description('Renew the token that is used.')
    .action(async () => {
      const { auth } = await cli.client.v1('auth/token/renew-self', { method: 'POST', body: {} });
      cli.print(auth, `Renewed for ${auth.lease_duration} seconds.`);
    });
  token
    .command('revoke')
    .description('Revoke the token that is used, or the one of an accessor.')
    .option('--accessor <accessor>', 'accessor of another token')
    .addOption(
      new Option('--api-token <id>', 'id of a token of /api/v2, at-…').conflicts('accessor'),
    )
    .action(async ({ accessor, apiToken }: RevokeOptions) => {
      if (apiToken !== undefined) {
        const path = `authentication-tokens/${encodeURIComponent(apiToken)}`;
        await cli.client.api(path, { method: 'DELETE' });
        cli.print({ revoked: true }, 'Revoked.');
        return;
      }
      const path = accessor === undefined ? 'revoke-self' : 'revoke-accessor';
      await cli.client.v1(`auth/token/${path}`, {
        method: 'POST',
        body: accessor === undefined ? {} : { accessor },
      });
      cli.print({ revoked: true }, 'Revoked.');
    });
};

const addPolicyCommands = (program: Command, cli: Cli): void => {
  const policy = program.command('policy').description('Policies of /v1.');
  const pathOf = (name: string): string => `sys/policies/acl/${encodeURIComponent(name)}`;
  policy
    .command('list')
    .description('Names of all policies.')
    .action(async () => {
      const { data } = await cli.client.v1('sys/policies/acl?list=true');
      cli.print(data.keys, data.keys.join('\n'));
    });
  policy
    .command('read')
    .description('Print a policy.')
    .argument('<name>')
    .action(async (name: string) => {
      const { data } = await cli.client.v1(pathOf(name));
      cli.print(data, data.policy);
    });
  policy
    .command('write')
    .description('Write a policy from a file, or from standard input ("-").')
    .argument('<name>')
    .argument('<file>')
    .action(async (name: string, file: string) => {
      const body = { policy: await readInput(file) };
      await cli.client.v1(pathOf(name), { method: 'PUT', body });
      cli.print({ name }, `Wrote the policy ${name}.`);
    });
  policy
    .command('delete')
    .description('Delete a policy.')
    .argument('<name>')
    .action(async (name: string) => {
      // DELETE also succeeds for a name that was misspelt.
      await cli.client.v1(pathOf(name));
      await cli.client.v1(pathOf(name), { method: 'DELETE' });
      cli.print({ name }, `Deleted the policy ${name}.`);
    });
};

export const addAccessCommands = (program: Command, cli: Cli): void => {
  program
    .command('login')
    .description(
      'Keep a token after the server accepted it: one from standard input or a prompt, or that of a sign-in.',
    )
    .addOption(new Option('--api', 'a token of /api/v2, for workspaces').conflicts('method'))
    .addOption(
      new Option(
        '--method <method>',
        'sign in, with the password, secret id or signed token from there, by a browser (oidc), or by a certificate (cert)',
      ).choices(METHODS),
    )
    .option('--path <path>', 'where the method is mounted; the method if left out')
    .option('--username <name>', 'for userpass and ldap')
    .option('--role-id <id>', 'for approle')
    .option(
      '--role <name>',
      'for kubernetes; for jwt and oidc, the default role of the mount if left out; for cert, the first that fits',
    )
    .addOption(
      new Option(
        '--device',
        'for oidc: the browser is on any machine, and the role has callback_mode device',
      ).conflicts('direct'),
    )
    .option(
      '--direct',
      'for oidc: the browser is on any machine and returns to the server, and the role has callback_mode direct',
    )
    .option('--client-cert <file>', 'certificate in PEM, for cert')
    .option('--client-key <file>', 'its private key in PEM, for cert')
    .action((options: LoginOptions) => login(cli, options));
  program
    .command('logout')
    .description('Forget the tokens that were kept; they stay valid.')
    .action(() => {
      forgetTokens(cli.environment);
      cli.print({}, 'The kept tokens were removed from this machine.');
    });
  addTokenCommands(program, cli);
  addPolicyCommands(program, cli);
};
