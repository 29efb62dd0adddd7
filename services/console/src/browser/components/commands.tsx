/** The same action as `curl` and as the compatible command line, ready to copy. */
import { useContext, useLayoutEffect, useRef } from 'react';
import { readSession } from '../api/session.ts';
import {
  type Command,
  type CommandRegistry,
  CommandsOfPage,
  TitleOfPart,
} from './command-registry.ts';
import styles from './commands.module.css';
import { CopyButton } from './copy-button.tsx';
import { Details, Summary } from './details.tsx';
import { Code } from './text.tsx';

export type { Command };

/** Quotes a text as one word of a shell command. */
export const quoted = (text: string): string =>
  /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const curl = (
  headers: readonly string[],
  method: string,
  path: string,
  body: object | undefined,
): Command => {
  const parts = ['curl', '-s', ...headers.flatMap((header) => ['-H', header])];
  if (body === undefined ? method !== 'GET' : method !== 'POST') parts.push('-X', method);
  if (body !== undefined) parts.push('-d', quoted(JSON.stringify(body)));
  parts.push(quoted(`${location.origin}${path}`));
  return { tool: 'curl', text: parts.join(' ') };
};

/** A call in a given namespace. @param namespace "" is the root */
export const secretsCurlIn = (
  namespace: string,
  method: string,
  path: string,
  body?: object,
): Command =>
  curl(
    [
      '"X-Service-Token: $KEELSON_TOKEN"',
      ...(namespace === '' ? [] : [quoted(`X-Service-Namespace: ${namespace}`)]),
      ...(method === 'PATCH' ? [quoted('Content-Type: application/merge-patch+json')] : []),
    ],
    method,
    `/v1/${path}`,
    body,
  );

/**
 * A call in the namespace of the session.
 * @param path below `/v1/`
 */
export const secretsCurl = (method: string, path: string, body?: object): Command =>
  secretsCurlIn(readSession().namespace, method, path, body);

/**
 * A call that only the root namespace has.
 * @param path below `/v1/`
 */
export const rootCurl = (method: string, path: string, body?: object): Command =>
  secretsCurlIn('', method, path, body);

/** The compatible command line in the root namespace. */
export const rootVaultCommand = (text: string): Command => ({ tool: 'vault', text });

/** The compatible command line in the namespace of the session. */
export const vaultCommand = (text: string): Command => {
  const { namespace } = readSession();
  return rootVaultCommand(namespace === '' ? text : `VAULT_NAMESPACE=${quoted(namespace)} ${text}`);
};

/** @param path below `/api/v2/` */
export const workspacesCurl = (method: string, path: string, body?: object): Command =>
  curl(
    [
      '"Authorization: Bearer $KEELSON_API_TOKEN"',
      ...(method === 'GET' ? [] : [quoted('Content-Type: application/vnd.api+json')]),
    ],
    method,
    `/api/v2/${path}`,
    body,
  );

/** Commands, one below the other. */
export const CommandList = ({ commands }: { commands: readonly Command[] }) =>
  commands.map(({ tool, text }) => (
    <div className={styles['command']} key={`${tool} ${text}`}>
      <span className={styles['tool']}>{tool}</span>
      <Code className={styles['text']}>{text}</Code>
      <CopyButton text={text} label={`Copy the command for ${tool}`} />
    </div>
  ));

interface CommandsProps {
  readonly commands: readonly Command[];
  /** The heading, where it is not the title of the card. */
  readonly title?: string | undefined;
}

/** Registers commands with the page, as they are now. */
const OfPage = (props: CommandsProps & { readonly registry: CommandRegistry }) => {
  const { registry, commands } = props;
  const titleOfPart = useContext(TitleOfPart);
  const title = props.title ?? titleOfPart;
  const place = useRef<HTMLSpanElement>(null);
  const content = JSON.stringify([title, commands]);
  useLayoutEffect(
    () =>
      place.current === null ? undefined : registry.add({ title, commands, place: place.current }),
    [registry, content],
  );
  return <span hidden ref={place} />;
};

/** The commands: on a page in its panel, and in a dialog below its fields; nothing where there are none. */
export const Commands = (props: CommandsProps) => {
  const registry = useContext(CommandsOfPage);
  if (props.commands.length === 0) return null;
  if (registry !== undefined) return <OfPage {...props} registry={registry} />;
  return (
    <Details className={styles['commands']}>
      <Summary>As a command</Summary>
      <CommandList commands={props.commands} />
    </Details>
  );
};
