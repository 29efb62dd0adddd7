/**
 * With which credentials a phase signs in elsewhere: the tokens of its run, and those that are made of them before any
 * code of the run is executed.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { discardFolder } from '@keelson/supervisor';
import type { Phase, WorkloadToken } from '../control-plane.ts';
import { readRegular } from '../regular-file.ts';
import { CLOUDS, type ProviderCredentials, type WriteFile } from './clouds.ts';
import { settingsOf } from './settings.ts';
import { toVaultCredentials, toVaultLogin } from './vault.ts';
import {
  revokeVaultToken,
  signInToVault,
  type VaultSession,
  type VaultToken,
} from './vault-session.ts';

export interface PhaseCredentials {
  /** Variables of the tool, which those of the workspace do not replace. */
  readonly environment: Readonly<Record<string, string>>;
  /** Revokes the tokens that were obtained. @returns sentences about those that could not be revoked */
  readonly end: () => Promise<readonly string[]>;
}

export const NO_CREDENTIALS: PhaseCredentials = { environment: {}, end: () => Promise.resolve([]) };

export interface CredentialParts {
  readonly phase: Phase;
  /** Folder of the phase. */
  readonly root: string;
  /** Folder in which the tool runs. */
  readonly workingFolder: string;
  /** Environment of the workspace. */
  readonly variables: Readonly<Record<string, string>>;
  /** Environment of the agent, which names proxies. */
  readonly environment: NodeJS.ProcessEnv;
  /** Keeps texts out of the log. */
  readonly hide: (secrets: readonly string[]) => void;
  /** Writes a sentence into the log. */
  readonly say: (text: string) => void;
}

/** Tokens that a phase has at most. */
const MAX_TOKENS = 32;

const foldersOf = (root: string): string => join(root, 'credentials');
/** Tokens that a restarted agent revokes. */
const sessionsFile = (root: string): string => join(root, 'sessions.json');

/** Code of the run has the same user, and may have left anything there. What remains goes with the folder of the phase. */
const discardLeft = async (path: string): Promise<void> => {
  await discardFolder(path).catch(() => undefined);
};

const nameOf = ({ purpose, tag }: Pick<WorkloadToken, 'purpose' | 'tag'>): string => {
  const name =
    purpose === 'WORKLOAD_IDENTITY'
      ? 'TFC_WORKLOAD_IDENTITY_AUDIENCE'
      : `TFC_${purpose}_WORKLOAD_IDENTITY_AUDIENCE`;
  return tag === '' ? name : `${name}_${tag}`;
};

const requireIssued = (token: WorkloadToken): void => {
  if (token.token === '')
    throw new Error(
      `There is no workload identity token for ${nameOf(token)}: an audience has 1 to 1024 characters, and a phase has up to 32 tokens.`,
    );
};

interface Configuration extends ProviderCredentials {
  readonly purpose: string;
  readonly tag: string;
}

/** A value of the configuration language, in which no template is evaluated. */
const toExpression = (value: object): string =>
  JSON.stringify(value)
    .replaceAll('${', () => '$${')
    .replaceAll('%{', '%%{');

/**
 * The input variables by which a configuration finds the credentials of a provider. Their paths are relative, as a plan
 * contains them and is applied in another folder with the same structure. One that no configuration declares is ignored.
 */
const toInputs = (
  configurations: readonly Configuration[],
  workingFolder: string,
): Record<string, string> => {
  const inputs: Record<string, string> = {};
  for (const [purpose, group] of Map.groupBy(configurations, (one) => one.purpose)) {
    const entries = group.map(({ tag, files, values }) => {
      const paths = Object.entries(files).map(
        ([name, path]) => [name, path === '' ? '' : relative(workingFolder, path)] as const,
      );
      return [tag, { ...Object.fromEntries(paths), ...values }] as const;
    });
    const [, shape] = entries[0] ?? ['', {}];
    const none = Object.fromEntries(Object.keys(shape).map((name) => [name, '']));
    const aliases = Object.fromEntries(entries.filter(([tag]) => tag !== ''));
    const byDefault = entries.find(([tag]) => tag === '')?.[1] ?? none;
    inputs[`TF_VAR_tfc_${purpose.toLowerCase()}_dynamic_credentials`] = toExpression({
      default: byDefault,
      aliases,
    });
  }
  return inputs;
};

/**
 * The variables by which a provider without settings finds its credentials. A provider that has a tag has none, as its
 * variables would replace the files that the settings of an alias name.
 */
const toVariables = (configurations: readonly Configuration[]): Record<string, string> => {
  const withTags = new Set(
    configurations.filter(({ tag }) => tag !== '').map((one) => one.purpose),
  );
  const alone = configurations.filter(({ purpose }) => !withTags.has(purpose));
  return Object.assign({}, ...alone.map(({ environment }) => environment));
};

/** The credentials of a phase. @throws Error for people, if one of them cannot be had; the others are then revoked */
export const obtainCredentials = async (parts: CredentialParts): Promise<PhaseCredentials> => {
  const { phase, root, workingFolder, variables, environment: proxies, hide, say } = parts;
  const tokens = phase.attributes['workload-identity-tokens'] ?? [];
  if (tokens.length === 0) return NO_CREDENTIALS;
  hide(tokens.map(({ token }) => token).filter((token) => token !== ''));
  tokens.forEach(requireIssued);
  const sessions: VaultSession[] = [];
  const end = async (): Promise<readonly string[]> => {
    const ended = await Promise.allSettled(sessions.map((session) => session.end()));
    await discardLeft(foldersOf(root));
    await discardLeft(sessionsFile(root));
    return ended.flatMap(({ status }, index) =>
      status === 'fulfilled'
        ? []
        : [
            `The token of ${sessions[index]?.token.address} could not be revoked, and ends by its time.`,
          ],
    );
  };
  const writerOf = ({ purpose, tag }: WorkloadToken): WriteFile => {
    const folder = join(foldersOf(root), tag === '' ? purpose : `${purpose}.${tag}`);
    return async (name, text) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
  };
  const configure = async (one: WorkloadToken): Promise<ProviderCredentials> => {
    const settings = settingsOf(variables, one, phase.attributes.phase);
    if (one.purpose !== 'VAULT') {
      const toCredentials = CLOUDS[one.purpose];
      if (toCredentials === undefined)
        throw new Error(
          `This agent does not know the provider of ${nameOf(one)}: it is older than the control plane.`,
        );
      return toCredentials(one.token, settings, writerOf(one));
    }
    const session = await signInToVault(toVaultLogin(settings, one.token), { proxies, say });
    sessions.push(session);
    hide([session.token.token]);
    await writeFile(sessionsFile(root), JSON.stringify(sessions.map(({ token }) => token)), {
      mode: 0o600,
    });
    return toVaultCredentials(session.token, writerOf(one));
  };
  const ofRun = tokens.filter(({ purpose }) => purpose === 'WORKLOAD_IDENTITY');
  const configurations: Configuration[] = [];
  try {
    for (const one of tokens)
      if (one.purpose !== 'WORKLOAD_IDENTITY')
        configurations.push({ ...one, ...(await configure(one)) });
  } catch (error) {
    await end();
    throw error;
  }
  return {
    environment: {
      ...Object.fromEntries(
        ofRun.map(({ tag, token }) => [
          tag === '' ? 'TFC_WORKLOAD_IDENTITY_TOKEN' : `TFC_WORKLOAD_IDENTITY_TOKEN_${tag}`,
          token,
        ]),
      ),
      ...toVariables(configurations),
      ...toInputs(configurations, workingFolder),
    },
    end,
  };
};

/** Revokes the tokens of a phase whose process was killed. @returns how many were revoked */
export const revokeLeftTokens = async (
  root: string,
  proxies: NodeJS.ProcessEnv,
): Promise<number> => {
  try {
    const bytes = await readRegular(sessionsFile(root));
    const tokens = JSON.parse(bytes?.toString() ?? '[]') as readonly VaultToken[];
    const ending = tokens.slice(0, MAX_TOKENS).map((token) => revokeVaultToken(token, proxies));
    const revoked = await Promise.allSettled(ending);
    return revoked.filter(({ status }) => status === 'fulfilled').length;
  } catch {
    return 0;
  } finally {
    await discardLeft(sessionsFile(root));
  }
};
