/** The same action as `curl` and as the compatible command line, ready to copy. */
import { readSession } from '../api/session.ts';
import { CopyButton } from './copy-button.tsx';

export interface Command {
  /** "curl", or the name of the tool. */
  readonly tool: string;
  readonly text: string;
}

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

/** @param namespace "" is the root */
const secretsCurlIn = (namespace: string, method: string, path: string, body?: object): Command =>
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

/** The commands; nothing where there are none. */
export const Commands = ({ commands }: { commands: readonly Command[] }) =>
  commands.length === 0 ? null : (
    <details className="commands">
      <summary>As a command</summary>
      {commands.map(({ tool, text }) => (
        <div className="command" key={`${tool} ${text}`}>
          <span className="tool">{tool}</span>
          <code>{text}</code>
          <CopyButton text={text} label={`Copy the command for ${tool}`} />
        </div>
      ))}
    </details>
  );
