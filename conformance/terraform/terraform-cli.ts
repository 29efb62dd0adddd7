/** The unmodified terraform binary, or another with its commands, against its own control plane, over HTTPS with Keelson's own CA. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  awaitAnswer,
  findBinary,
  type LiveSite,
  startKeelson,
  temporaryDirectory,
} from '@keelson/testkit';
import { makeProviderMirror, PROVIDER_ENVIRONMENT } from './provider-mirror.ts';

const BINARY = await findBinary('terraform', 'terraform');

export interface Outcome {
  readonly code: number | null;
  /** Both streams. */
  readonly output: string;
  readonly stdout: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  /** Resolves when it has printed this. */
  readonly printed: (text: string) => Promise<void>;
  /** Resolves to what it has printed, once a part of that matches. */
  readonly matched: (pattern: RegExp) => Promise<string>;
  readonly outcome: Promise<Outcome>;
}

export interface Project {
  readonly folder: string;
  readonly write: (name: string, content: string) => Promise<void>;
  readonly start: (...args: readonly string[]) => RunningCommand;
  /** Starts terraform and gives these answers to its questions. */
  readonly startAnswering: (
    answers: readonly string[],
    ...args: readonly string[]
  ) => RunningCommand;
  /** Runs terraform and expects success. */
  readonly run: (...args: readonly string[]) => Promise<string>;
  /** Runs terraform, gives these answers to its questions, and expects success. */
  readonly answering: (answers: readonly string[], ...args: readonly string[]) => Promise<string>;
  /** Runs terraform and expects failure; what it printed, with its line breaks and frames removed. */
  readonly refused: (...args: readonly string[]) => Promise<string>;
}

export interface Installation extends AsyncDisposable {
  /** "localhost:PORT", as configurations name the service. */
  readonly host: string;
  /** "https://localhost:PORT". */
  readonly address: string;
  /** "http://127.0.0.1:PORT". */
  readonly http: string;
  readonly dataFolder: string;
  /** Ends the process with the signal and starts it again; its addresses stay only if ports were set. */
  restart(signal: NodeJS.Signals): Promise<void>;
  /** Certificate of the control plane's own CA. */
  readonly caFile: string;
  /** Where the tool finds providers, for those who run it themselves. */
  readonly providersFile: string;
  /** A new folder, removed with the installation. */
  folder(name: string): Promise<string>;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Where changes of answers are reported. */
  readonly live: LiveSite;
  /**
   * Waits until a resource, or the resources of a list, are as wanted.
   * @param path below `/api/v2`
   */
  until(path: string, isWanted: (answer: Answer) => boolean): Promise<Answer>;
  /** Starts terraform as somebody whose home, the folder, knows no credentials. */
  asStranger(home: string, answers: readonly string[], ...args: readonly string[]): RunningCommand;
  /** Token of the first user. */
  readonly token: string;
  /** A new configuration in a separate folder. */
  project(files: Readonly<Record<string, string>>): Promise<Project>;
}

export interface Answer {
  readonly status: number;
  readonly data: {
    readonly id: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly relationships?: Readonly<Record<string, { readonly data?: unknown }>>;
  };
  readonly list: readonly Answer['data'][];
  /** As it came: not all that is read is JSON:API. */
  readonly document: unknown;
}

/** Frames and breaks of the tool's messages, so that sentences can be looked for. */
const unframed = (text: string): string => text.replaceAll(/[│╷╵\s]+/g, ' ');

const QUESTION = 'Enter a value:';

const execute = (
  program: string,
  folder: string,
  environment: NodeJS.ProcessEnv,
  args: readonly string[],
  answers?: readonly string[],
): RunningCommand => {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...environment, ...(answers === undefined && { TF_INPUT: '0' }) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const waiting = [...(answers ?? [])];
  if (waiting.length === 0) child.stdin.end();
  // Each when it is asked for: the tool forgets what it has read beyond an answer.
  const answer = (chunk: string): void => {
    for (let asked = chunk.split(QUESTION).length - 1; asked > 0; asked -= 1) {
      const next = waiting.shift();
      if (next !== undefined) child.stdin.write(`${next}\n`);
      if (waiting.length === 0) child.stdin.end();
    }
  };
  let output = '';
  let stdout = '';
  const listeners = new Set<() => void>();
  const hear = (chunk: Buffer): void => {
    output += chunk.toString();
    for (const listen of listeners) listen();
  };
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    hear(chunk);
    answer(chunk.toString());
  });
  child.stderr.on('data', hear);
  const outcome = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    output,
    stdout,
  }));
  /** @param find reads what has been printed so far; undefined to wait for more */
  const heard = <T>(what: string, find: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const listen = (): void => {
        const found = find();
        if (found !== undefined) resolve(found);
      };
      listeners.add(listen);
      listen();
      outcome
        .then(() => reject(new Error(`terraform ended before it printed ${what}:\n${output}`)))
        .catch(reject);
    });
  const printed: RunningCommand['printed'] = async (text) => {
    await heard(`"${text}"`, () => (output.includes(text) ? true : undefined));
  };
  const matched: RunningCommand['matched'] = (pattern) =>
    heard(String(pattern), () => pattern.exec(output)?.[0]);
  return { child, printed, matched, outcome };
};

type Settings = Readonly<Record<string, string>>;
type MakeFolder = Installation['folder'];

/**
 * A control plane with the organization "acme", and a place for configurations.
 * @param settings of the control plane, by their names in the environment; a function is given folders for them
 * @param program the file of the tool
 */
export const install = async (
  settings: Settings | ((folder: MakeFolder) => Promise<Settings>) = {},
  program = BINARY,
): Promise<Installation> => {
  const directory = await temporaryDirectory();
  // Passed through by the users that runs have of their own.
  await chmod(directory.path, 0o711);
  const makeFolder: MakeFolder = async (name) => {
    const folder = join(directory.path, name);
    await mkdir(folder);
    return folder;
  };
  const given = typeof settings === 'function' ? await settings(makeFolder) : settings;
  const start = () =>
    startKeelson({
      dataFolder: join(directory.path, 'keelson'),
      env: { KEELSON_RATE_LIMIT: 'off', ...given },
    });
  let keelson = await start();
  const host = new URL(keelson.https).host;
  const facts = JSON.parse(await readFile(join(keelson.dataFolder, 'first-run.json'), 'utf8')) as {
    ca_certificate_file: string;
  };
  const cliConfig = join(directory.path, 'cli.tfrc');
  const providersFile = await makeProviderMirror(join(directory.path, 'providers'));
  const credentials = `credentials "${host}" {\n  token = "${keelson.apiToken}"\n}\n`;
  await writeFile(cliConfig, (await readFile(providersFile, 'utf8')) + credentials);
  const environment: NodeJS.ProcessEnv = {
    ...PROVIDER_ENVIRONMENT,
    PATH: process.env['PATH'],
    HOME: directory.path,
    TF_CLI_CONFIG_FILE: cliConfig,
    SSL_CERT_FILE: facts.ca_certificate_file,
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_CLI_ARGS: '-no-color',
  };

  const answerOf = (status: number, document: unknown): Answer => {
    const { data } = document as { data?: unknown };
    return {
      status,
      document,
      data: data as Answer['data'],
      list: Array.isArray(data) ? (data as Answer['data'][]) : [],
    };
  };
  const call: Installation['call'] = async (method, path, body) => {
    const response = await fetch(`${keelson.http}/api/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${keelson.apiToken}`,
        'content-type': 'application/vnd.api+json',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return answerOf(response.status, text === '' ? {} : JSON.parse(text));
  };
  const live = (): LiveSite => ({
    origin: keelson.http,
    headers: { authorization: `Bearer ${keelson.apiToken}` },
  });
  await call('POST', '/organizations', {
    data: { type: 'organizations', attributes: { name: 'acme', email: 'a@b.example' } },
  });

  let projects = 0;
  return {
    host,
    address: keelson.https,
    caFile: facts.ca_certificate_file,
    providersFile,
    folder: makeFolder,
    http: keelson.http,
    dataFolder: keelson.dataFolder,
    restart: async (signal) => {
      await keelson.stop(signal);
      keelson = await start();
    },
    call,
    get live() {
      return live();
    },
    until: (path, isWanted) =>
      awaitAnswer(live(), `/api/v2${path}`, ({ status, body = {} }) => {
        const answer = answerOf(status, body);
        return isWanted(answer) ? answer : undefined;
      }),
    token: keelson.apiToken,
    asStranger: (home, answers, ...args) => {
      const { TF_CLI_CONFIG_FILE: _own, ...others } = environment;
      return execute(program, home, { ...others, HOME: home }, args, answers);
    },
    project: async (files) => {
      const folder = join(directory.path, `project-${(projects += 1)}`);
      await mkdir(folder);
      const write: Project['write'] = (name, content) => writeFile(join(folder, name), content);
      for (const [name, content] of Object.entries(files)) await write(name, content);
      const start: Project['start'] = (...args) => execute(program, folder, environment, args);
      const succeed = async (args: readonly string[], answers?: readonly string[]) => {
        const running = execute(program, folder, environment, args, answers);
        const { code, output, stdout } = await running.outcome;
        if (code !== 0)
          throw new Error(`terraform ${args.join(' ')} ended with ${code}\n${output}`);
        return stdout;
      };
      return {
        folder,
        write,
        start,
        startAnswering: (answers, ...args) => execute(program, folder, environment, args, answers),
        run: (...args) => succeed(args),
        answering: (answers, ...args) => succeed(args, answers),
        refused: async (...args) => {
          const { code, output } = await start(...args).outcome;
          if (code === 0) throw new Error(`terraform ${args.join(' ')} succeeded\n${output}`);
          return unframed(output);
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      await keelson.stop();
      await directory[Symbol.asyncDispose]();
    },
  };
};

/** Selects workspaces through a cloud block or the older backend. */
export const cloudBlock = (host: string, workspaces: string): string => `
terraform {
  cloud {
    hostname     = "${host}"
    organization = "acme"
    workspaces {
      ${workspaces}
    }
  }
}
`;
export const remoteBackend = (host: string, workspaces: string): string => `
terraform {
  backend "remote" {
    hostname     = "${host}"
    organization = "acme"
    workspaces {
      ${workspaces}
    }
  }
}
`;

/** One resource that needs no provider from a registry, and two outputs. */
export const configuration = (input: string): string => `
resource "terraform_data" "one" { input = "${input}" }
output "one" { value = terraform_data.one.output }
output "secret" {
  value     = ["hidden ${input}"]
  sensitive = true
}
`;
