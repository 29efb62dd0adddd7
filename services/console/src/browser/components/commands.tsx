/** The same action as `curl` and as the compatible command line, ready to copy. */
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
  header: string,
  method: string,
  path: string,
  body: object | undefined,
  contentType: string | undefined,
): Command => {
  const parts = ['curl', '-s', '-H', header];
  if (body === undefined ? method !== 'GET' : method !== 'POST') parts.push('-X', method);
  if (contentType !== undefined && method !== 'GET')
    parts.push('-H', quoted(`Content-Type: ${contentType}`));
  if (body !== undefined) parts.push('-d', quoted(JSON.stringify(body)));
  parts.push(quoted(`${location.origin}${path}`));
  return { tool: 'curl', text: parts.join(' ') };
};

/** @param path below `/v1/` */
export const secretsCurl = (method: string, path: string, body?: object): Command =>
  curl('"X-Service-Token: $KEELSON_TOKEN"', method, `/v1/${path}`, body, undefined);

/** @param path below `/api/v2/` */
export const workspacesCurl = (method: string, path: string, body?: object): Command =>
  curl(
    '"Authorization: Bearer $KEELSON_API_TOKEN"',
    method,
    `/api/v2/${path}`,
    body,
    'application/vnd.api+json',
  );

export const Commands = ({ commands }: { commands: readonly Command[] }) => (
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
